"""A Spark session on this machine, for tests, tools and benchmarks."""

import os
import sys
from typing import Any

from pyspark.sql import SparkSession

STATE_STORE = "spark.sql.streaming.stateStore"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "2",
    f"{STATE_STORE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{STATE_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
}


def start_session(**settings: Any) -> SparkSession:
    """A session with two worker threads; ``settings`` with _ for dots."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[2]")
    others = {name.replace("_", "."): value for name, value in settings.items()}
    for name, value in (SETTINGS | others).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session

import pytest

from thalweg.tables.schema import closest_name

NAMES = ("Zeit", "Last [kWh]", "Größe", "store_id", "Température (°C)", "y")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("last", "Last [kWh]"),
        ("last kwh", "Last [kWh]"),
        ("LAST[KWH]", "Last [kWh]"),
        ("lst kwh", "Last [kWh]"),
        ("groesse", "Größe"),
        ("grosse", "Größe"),
        ("Grösse", "Größe"),
        ("store", "store_id"),
        ("Store ID", "store_id"),
        ("temperature", "Température (°C)"),
        ("Y", "y"),
        ("yy", "y"),
        ("price", None),
        ("[]", None),
    ],
)
def test_the_closest_name_is_found(given, meant):
    assert closest_name(given, NAMES) == meant

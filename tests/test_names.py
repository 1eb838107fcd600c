"""Names that a stranger can find: one name for one thing, and no bare participles."""

from tools import house

TREES = house.modules(house.HERE)


def test_no_function_is_named_by_a_participle_alone():
    names = [
        f"{module}.{node.name}"
        for module, tree in TREES.items()
        for node in house.functions(tree)
        if house.is_bare_participle(node.name)
    ]
    assert names == []


def test_no_class_name_is_used_twice():
    assert house.repeats(house.class_names(TREES)) == []


def test_no_file_name_is_used_twice_for_different_ideas():
    assert set(house.repeats(house.file_names(TREES))) <= house.SAME_IDEA

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a JSON Schema accepts and rejects configurations as a file of them expects.

    check-schema.py SCHEMA.json CONFIGS.jsonl

Each line of CONFIGS has a `config`, and in `schema` whether the schema "accepts" or "rejects" it.
The validator below knows the keywords that the schema has, and rejects any other; where the package
jsonschema is installed, it has to judge the same.
"""

import json
import sys

schema_path, configs_path = sys.argv[1:]
with open(schema_path) as file:
    schema = json.load(file)

ANNOTATIONS = {"$schema", "title", "description", "definitions"}
TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: TYPES["number"](v) and v == int(v),
}


def canonical(value):
    """A text that equal values have in common: 1 and 1.0, but not 1 and true."""
    if TYPES["integer"](value):
        value = int(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, sort_keys=True)


def accepts(rule, value):
    if "$ref" in rule:  # Keywords beside it are ignored.
        assert rule["$ref"].startswith("#/definitions/"), rule
        return accepts(schema["definitions"][rule["$ref"].split("/")[2]], value)
    properties = rule.get("properties", {})
    for keyword, wanted in rule.items():
        if keyword in ANNOTATIONS or keyword == "properties":
            continue
        if keyword == "type":
            good = TYPES[wanted](value)
        elif keyword == "const":
            good = canonical(value) == canonical(wanted)
        elif keyword == "enum":
            good = canonical(value) in map(canonical, wanted)
        elif keyword == "minimum":
            good = not TYPES["number"](value) or value >= wanted
        elif keyword == "maximum":
            good = not TYPES["number"](value) or value <= wanted
        elif keyword == "minItems":
            good = not isinstance(value, list) or len(value) >= wanted
        elif keyword == "maxItems":
            good = not isinstance(value, list) or len(value) <= wanted
        elif keyword == "uniqueItems":
            good = not isinstance(value, list) or len(set(map(canonical, value))) == len(value)
        elif keyword == "items":
            good = not isinstance(value, list) or all(accepts(wanted, v) for v in value)
        elif keyword == "required":
            good = not isinstance(value, dict) or all(name in value for name in wanted)
        elif keyword == "additionalProperties":
            assert wanted is False, rule
            good = not isinstance(value, dict) or all(name in properties for name in value)
        elif keyword == "oneOf":
            good = sum(accepts(one, value) for one in wanted) == 1
        elif keyword == "not":
            good = not accepts(wanted, value)
        else:
            raise AssertionError(f"this validator does not know '{keyword}'")
        if not good:
            return False
    if isinstance(value, dict):
        return all(accepts(properties[name], v) for name, v in value.items() if name in properties)
    return True


validators = [("this validator", lambda value: accepts(schema, value))]
try:
    import jsonschema

    jsonschema.Draft7Validator.check_schema(schema)
    validators.append(("jsonschema", jsonschema.Draft7Validator(schema).is_valid))
except ImportError:
    print("note: jsonschema is not installed")

counts = {"accepts": 0, "rejects": 0}
failed = 0
with open(configs_path) as file:
    for number, line in enumerate(file, 1):
        entry = json.loads(line)
        # Both accept every valid configuration.
        assert entry["error"] or entry["schema"] == "accepts", line
        for name, judge in validators:
            verdict = "accepts" if judge(entry["config"]) else "rejects"
            if verdict != entry["schema"]:
                print(f"{configs_path}:{number}: {name} {verdict} {entry['config']}")
                failed += 1
        counts[entry["schema"]] += 1
print(f"accepted {counts['accepts']}, rejected {counts['rejects']}, otherwise than expected {failed}")
sys.exit(1 if failed else 0)

"""The JSON Schemas from temporal-media's lib/schemas folder, wherever you keep a copy."""

import json
import os
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

VALIDATORS = {
    file.stem: Draft202012Validator(json.loads(file.read_text()))
    for file in Path(os.environ["MEDIA_SCHEMAS"]).glob("*.json")
}


def validate(name: str, message: Any) -> None:
    VALIDATORS[name].validate(message)

"""What every message has in common: camelCase on the wire, no unknown key, no implicit conversion, absent instead of null.

Mirrors packages/protocol/src; both sides replay packages/protocol/fixtures.
"""

import math
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationInfo,
    model_serializer,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core.core_schema import SerializerFunctionWrapHandler

PROTOCOL_VERSION = 1

# Validation context of what came in: there an optional field is absent, while our own code may build it with None.
FROM_WIRE = "wire"

NON_FINITE = ("NaN", "Infinity", "-Infinity")

Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Mapping = dict[str, Any]


def encode_float(value: float) -> float | str:
    """A float as it travels: JSON has no NaN or infinity, so those go by name."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def decode_float(value: Any) -> Any:
    return float(value) if value in NON_FINITE else value


WireFloat = Annotated[float, BeforeValidator(decode_float), PlainSerializer(encode_float)]


class Wire(BaseModel):
    """Base of messages and their parts. Python names are snake_case; the wire's are camelCase."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_null(cls, data: Any, info: ValidationInfo) -> Any:
        if info.context == FROM_WIRE and isinstance(data, dict):
            for name, field in cls.model_fields.items():
                wire_name = field.alias or name
                if not field.is_required() and wire_name in data and data[wire_name] is None:
                    raise ValueError(f"{wire_name} may be absent, not null")
        return data

    @model_serializer(mode="wrap")
    def _drop_absent(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        optional = {field.alias or name for name, field in type(self).model_fields.items() if not field.is_required()}
        fields: dict[str, Any] = serialise(self)
        return {name: value for name, value in fields.items() if value is not None or name not in optional}


class ConfigWire(Wire):
    """A message whose fields carry the names of the run's configuration, which are lm_eval's and snake_case."""

    model_config = ConfigDict(alias_generator=None)

"""Parameters: what a function's signature says it takes."""


class Parameter:
    """One parameter of a function."""

    def __init__(self, name, taken, required, description=None):
        self.name, self.taken, self.required, self.description = name, taken, required, description
        self.schema = None

    def offer(self):
        """Its part of the offer."""
        schema = {} if self.schema is None else {"schema": self.schema}
        texts = {"texts": True} if self.taken.texts else {}
        return {
            **schema,
            **texts,
            "name": self.name,
            "kind": self.taken.kind,
            "list": self.taken.is_list,
            "required": self.required,
            "table": self.taken.of_table is not None,
            "description": self.description,
        }

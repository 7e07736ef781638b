"""The intermediate representation: integer linear forms, scalar expressions, and structured statements."""

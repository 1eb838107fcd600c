"""What a person sees: charts and pages."""

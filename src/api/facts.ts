/** The facts that a rule reads and the operators that it compares them with. No npm package here. */

export const FACTS = [
  'condition',
  'event',
  'node',
  'component',
  'disk',
  'xid',
  'probe',
  'preflight',
  'history',
  'diagnosis',
  'maintenance',
  'fleet',
  'workload',
  'metric',
] as const;

export const OPERATORS = [
  'equal',
  'in',
  'contains',
  'lessThan',
  'lessThanInclusive',
  'greaterThan',
  'greaterThanInclusive',
] as const;

/** Keeps the compiled expressions of a Pipeline from one reconcile to the next: what was found of objects that do not change stays known. */
import { isDeepStrictEqual } from 'node:util';
import type { HealthExpression } from '../../../api/generated/types.ts';
import { createHealthExpressions, type HealthExpressions } from './health-expressions.ts';

export type ExpressionsCache = (declared: readonly HealthExpression[] | undefined) => HealthExpressions;

export function createExpressionsCache(): ExpressionsCache {
  let known:
    | { readonly declared: readonly HealthExpression[]; readonly compiled: HealthExpressions }
    | undefined;
  return (declared = []) => {
    if (!known || !isDeepStrictEqual(known.declared, declared)) {
      known = { declared, compiled: createHealthExpressions(declared) };
    }
    return known.compiled;
  };
}

/** The request of an eviction, and the refusals that are answers instead of errors. Pure. */
import { isDisruptionBudget, isKubeError } from '../../client/errors.ts';
import type { KubeObject } from '../../objects/object.ts';

export type EvictionOutcome =
  /** The Pod is being deleted, or does not exist any more. */
  | { readonly evicted: true }
  | {
      readonly evicted: false;
      /** The words of the API server: which budget, how many Pods it needs. */
      readonly because: string;
      readonly retryAfterSeconds?: number;
    };

export function evictionOf(
  { metadata: { name, namespace, uid } }: KubeObject,
  gracePeriodSeconds: number | undefined,
): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    deleteOptions: {
      preconditions: { uid },
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    },
  };
}

/** Undefined for an error that stays one. */
export function evictionOutcome(error: unknown): EvictionOutcome | undefined {
  if (isKubeError(error, 'NotFound')) return { evicted: true };
  if (!isKubeError(error, 'TooManyRequests') || !error.causes.some(isDisruptionBudget)) return undefined;
  const { message, causes, retryAfterSeconds } = error;
  const because = causes.find(isDisruptionBudget)?.message ?? message;
  return { evicted: false, because, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

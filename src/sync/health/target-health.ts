/** The health of everything that a commit put into one cluster, from what is observed of it now. */
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { RenderedUnit } from '../rendered.ts';
import type { HealthExpressions } from './expressions/health-expressions.ts';
import { type AppliedObject, findingOf, type Settlement, settlementOf } from './health.ts';

export interface ObservedObjects {
  readonly observe: (id: ObjectId) => KubeObject | 'absent' | 'unknown';
  /** Why an object is unknown. */
  readonly unknownReason: (id: ObjectId) => string | undefined;
  /** Why nothing that was observed can be trusted now. */
  readonly staleReason: string | undefined;
  /** The expressions of the Pipeline about foreign kinds. */
  readonly expressions?: HealthExpressions;
}

interface LiveObjects {
  readonly get: ObservedObjects['observe'];
  readonly unknownReason: ObservedObjects['unknownReason'];
  readonly staleReason: () => string | undefined;
}

/** Returns the objects as a cache of live objects has them. */
export function observedIn(live: LiveObjects, expressions?: HealthExpressions): ObservedObjects {
  return {
    observe: (id) => live.get(id),
    unknownReason: (id) => live.unknownReason(id),
    staleReason: live.staleReason(),
    ...optional('expressions', expressions),
  };
}

export function targetHealth(units: readonly RenderedUnit[], observed: ObservedObjects): Settlement {
  return settlementOf(
    units.flatMap(({ objects }) => objects.map(({ object }) => appliedObject(object, observed))),
    observed.staleReason,
  );
}

export interface UnhealthyObject {
  readonly object: string;
  readonly unit: string;
  readonly reason: string;
  readonly message: string;
}

/** The first objects that have failed by what their controllers report. */
export function unhealthyObjects(
  units: readonly RenderedUnit[],
  observed: ObservedObjects,
  most = 20,
): readonly UnhealthyObject[] {
  if (observed.staleReason !== undefined) return [];
  const found = units.flatMap(({ unit, objects }) =>
    objects.flatMap(({ object }) => {
      const finding = findingOf(appliedObject(object, observed));
      if (finding.state !== 'failed') return [];
      return {
        object: objectKey(objectIdOf(object)),
        unit,
        reason: finding.reason,
        message: finding.because,
      };
    }),
  );
  return found.toSorted((a, b) => byCode(a.object, b.object)).slice(0, most);
}

function appliedObject(
  object: KubeObject,
  { observe, unknownReason, expressions }: ObservedObjects,
): AppliedObject {
  const { apiVersion, kind, metadata } = object;
  const id = objectIdOf(object);
  const observed = observe(id);
  // The cache holds the answer to our own write, or something newer: its generation is the one to wait for.
  const generation = typeof observed === 'object' ? observed.metadata.generation : undefined;
  return {
    apiVersion,
    kind,
    name: metadata.name,
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
    ...(generation === undefined ? {} : { generation }),
    observed,
    ...optional('expressions', expressions),
    ...optional('unknownReason', observed === 'unknown' ? unknownReason(id) : undefined),
  };
}

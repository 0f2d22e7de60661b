/** Writes what a plan wants, step by step: within a step side by side, and one that fails takes only its dependents along. */
import { isKubeError } from '../../kube/client/errors.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { keyOf } from '../../kube/objects/object-id.ts';
import { isCrd } from '../protected-kinds.ts';
import { type Written, writeObject } from './apply-object.ts';
import { projectionOf, saysTheSame } from './drift.ts';
import { NOT_YET, untilServed } from './live/crd-watch.ts';
import { dependencies, inSteps } from './order.ts';
import type { TargetPlan, WantedEntry } from './plan.ts';
import { sideBySide } from './run-concurrently.ts';
import type { PassContext } from './sync-cluster.ts';

export type Outcome =
  | { readonly state: 'applied'; readonly entry: WantedEntry; readonly object: KubeObject }
  | {
      readonly state: 'failed';
      readonly entry: WantedEntry;
      readonly reason: string;
      readonly message: string;
      /** It may pass without a person: it is tried again. */
      readonly passing: boolean;
    };

/** Adds to `outcomes`, so that what was confirmed is known even when the server is lost half-way. */
export async function writeAll(
  context: PassContext,
  plan: TargetPlan,
  outcomes: Map<string, Outcome>,
): Promise<{ unlocked: boolean }> {
  const needs = dependencies(plan.wanted.map(({ object }) => object));
  let unlocked = false;
  for (const step of inSteps(plan.wanted.filter(isWrite), ({ id }) => id)) {
    await sideBySide(step, async (entry) => {
      const missing = needs(entry.object).find((key) => outcomes.get(key)?.state === 'failed');
      note(context, entry, missing ? dependencyFailed(missing) : await writeOne(context, entry), outcomes);
    });
    unlocked = (await definitionsServe(context, step, outcomes)) || unlocked;
  }
  return { unlocked };
}

function isWrite({ action }: WantedEntry): boolean {
  return action === 'create' || action === 'update' || action === 'correct';
}

async function writeOne({ client, hub, signal }: PassContext, entry: WantedEntry): Promise<Written> {
  signal.throwIfAborted();
  return writeObject({ client, hub }, entry);
}

function note(
  { live, log, accepted }: PassContext,
  entry: WantedEntry,
  written: Written,
  outcomes: Map<string, Outcome>,
): void {
  const key = keyOf(entry.id);
  const fields = { object: key, unit: entry.unit, because: entry.because };
  if (written.outcome === 'failed') {
    const { reason, message, passing } = written;
    outcomes.set(key, { state: 'failed', entry, reason, message, passing });
    log.warn('object not applied', { ...fields, reason, message });
    return;
  }
  const { object, replaced } = written;
  outcomes.set(key, { state: 'applied', entry, object });
  live.wrote(object);
  if (saysTheSame(entry.object, object)) accepted.delete(key);
  else accepted.set(key, { digest: entry.digest, projection: projectionOf(entry.object, object) });
  log.info(replaced ? 'object replaced' : 'object applied', fields);
}

function dependencyFailed(key: string): Written {
  return {
    outcome: 'failed',
    reason: 'DependencyFailed',
    message: `it needs ${key}, which failed`,
    passing: true,
  };
}

/** Waits until the API server serves the kinds that were just defined, and makes them visible. */
async function definitionsServe(
  context: PassContext,
  step: readonly WantedEntry[],
  outcomes: ReadonlyMap<string, Outcome>,
): Promise<boolean> {
  const fresh = step.filter(({ id }) => isCrd(id) && outcomes.get(keyOf(id))?.state === 'applied');
  if (fresh.length === 0) return false;
  await Promise.all(fresh.map((entry) => served(context, entry)));
  context.live.forgetUnserved();
  return true;
}

/** The kind that a CRD defines; one that is not served in time is for the next pass. */
async function served(
  { client, clock, signal, log }: PassContext,
  { id, object }: WantedEntry,
): Promise<void> {
  const version = textAt(listAt(object, 'spec', 'versions')[0], 'name') ?? '';
  const kind = textAt(object, 'spec', 'names', 'kind') ?? '';
  const apiVersion = `${textAt(object, 'spec', 'group') ?? ''}/${version}`;
  try {
    await untilServed(client, clock, { apiVersion, kind }, signal);
  } catch (error) {
    if (!isKubeError(error, ...NOT_YET)) throw error;
    log.warn('definition not served in time', { object: keyOf(id) });
  }
}

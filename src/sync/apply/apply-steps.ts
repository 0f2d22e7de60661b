/** Applies the objects of a plan step by step: concurrently within a step. A failure stops only the objects that depend on it. */
import { isKubeError } from '../../kube/client/errors.ts';
import { NOT_SERVED_YET, waitUntilServed } from '../../kube/client/served.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import { objectKey } from '../../kube/objects/object-id.ts';
import type { Log, LogFields } from '../../kube/process/log.ts';
import { runConcurrently } from '../../kube/process/run-concurrently.ts';
import { isCrdId } from '../protected-kinds.ts';
import { type ApplyOutcome, applyObject } from './apply-object.ts';
import type { SyncContext } from './context.ts';
import { matchesDesired, projectionOf } from './drift.ts';
import { unitClient } from './identity/unit-identities.ts';
import { dependenciesIn, groupByStep } from './order.ts';
import { correctionOf } from './ownership/correction.ts';
import { isWrite, type ObjectPlan, type TargetPlan } from './plan.ts';

export type ObjectOutcome =
  | {
      readonly state: 'applied';
      readonly plan: ObjectPlan;
      /** The UID of the object that the server confirmed. The object itself is in the live cache. */
      readonly uid: string | undefined;
      readonly adopted: boolean;
    }
  | {
      readonly state: 'failed';
      readonly plan: ObjectPlan;
      readonly reason: string;
      readonly message: string;
      /** True if a later reconcile may succeed without a person's help. */
      readonly retryable: boolean;
    };

export interface AppliedSteps {
  /** True if a CRD was applied and its kind was waited for: objects that waited for it can be planned again. */
  readonly newKinds: boolean;
}

interface StepsTarget {
  readonly plan: TargetPlan;
  readonly commit: string;
  /** Gets each outcome. Nothing is sent once it throws. */
  readonly confirmations?: OutcomeSink;
}

export interface OutcomeSink {
  add(outcome: ObjectOutcome): void;
  throwIfFailed(): void;
}

/**
 * Applies the writes of the plan. Adds to `outcomes`, so that confirmed objects are known even when the server becomes
 * unreachable half-way.
 */
export async function applySteps(
  context: SyncContext,
  { plan, commit, confirmations }: StepsTarget,
  outcomes: Map<string, ObjectOutcome>,
): Promise<AppliedSteps> {
  const foundAt = context.clock.now();
  const writes = plan.objects.filter(isWrite);
  if (writes.length === 0) return { newKinds: false };
  const dependenciesOf = dependenciesIn(plan.objects.map(({ object }) => object));
  let newKinds = false;
  for (const step of groupByStep(writes, ({ id }) => id)) {
    const lines = createStepLog(context.log);
    const recorder = { ...context, lines };
    const work = async (item: ObjectPlan): Promise<void> => {
      confirmations?.throwIfFailed();
      const failed = dependenciesOf(item.object).find((key) => outcomes.get(key)?.state === 'failed');
      const outcome = failed === undefined ? await applyOne(context, item) : dependencyFailed(failed);
      const recorded = record(recorder, item, outcome);
      outcomes.set(objectKey(item.id), recorded);
      confirmations?.add(recorded);
      if (outcome.outcome === 'applied') recordCorrection(context, item, outcome, { commit, foundAt });
    };
    await runConcurrently(step, work).finally(() => lines.end());
    newKinds = (await waitForNewKinds(context, step, outcomes)) || newKinds;
  }
  return { newKinds };
}

async function applyOne(context: SyncContext, plan: ObjectPlan): Promise<ApplyOutcome> {
  context.signal.throwIfAborted();
  return applyObject({ ...context, client: unitClient(context, plan.unit) }, plan);
}

/** As many objects of a step have a line each. Of a larger step the others are counted; the audit record names them all. */
const NAMED_OBJECTS = 100;

interface StepLog {
  applied(outcome: Extract<ApplyOutcome, { outcome: 'applied' }>, fields: LogFields): void;
  end(): void;
}

function createStepLog(log: Log): StepLog {
  let named = 0;
  let counted = 0;
  return {
    applied({ replaced, adopted }, fields) {
      // What is more than an apply is always named.
      if (replaced) log.info('object replaced', fields);
      else if (adopted) log.info('object applied', { ...fields, adopted });
      else if (named < NAMED_OBJECTS) {
        named += 1;
        log.info('object applied', fields);
      } else counted += 1;
    },
    end() {
      if (counted > 0) log.info('more objects applied', { objects: counted });
    },
  };
}

function record(
  { live, log, serverForms, lines }: SyncContext & { readonly lines: StepLog },
  plan: ObjectPlan,
  result: ApplyOutcome,
): ObjectOutcome {
  const key = objectKey(plan.id);
  const fields = { object: key, unit: plan.unit, because: plan.because };
  if (result.outcome === 'failed') {
    const { reason, message, retryable } = result;
    log.warn('object not applied', { ...fields, reason, message });
    return { state: 'failed', plan, reason, message, retryable };
  }
  const { object, adopted } = result;
  live.recordApplied(object);
  if (matchesDesired(plan.object, object)) serverForms.delete(key);
  else serverForms.set(key, { digest: plan.digest, projection: projectionOf(plan.object, object) });
  lines.applied(result, fields);
  return { state: 'applied', plan, uid: object.metadata.uid, adopted };
}

function recordCorrection(
  { clock, log, ...context }: SyncContext,
  plan: ObjectPlan,
  { object }: Extract<ApplyOutcome, { outcome: 'applied' }>,
  { commit, foundAt }: { readonly commit: string; readonly foundAt: Date },
): void {
  const correction = correctionOf(plan, { applied: object, commit, foundAt, correctedAt: clock.now() });
  if (!correction) return;
  log.info('drift corrected', { ...correction });
  context.recordCorrection?.(correction);
}

function dependencyFailed(key: string): ApplyOutcome {
  return {
    outcome: 'failed',
    reason: 'DependencyFailed',
    message: `depends on ${key}, which failed`,
    retryable: true,
  };
}

/** Waits until the API server serves the kinds whose CRDs were just applied. */
async function waitForNewKinds(
  context: SyncContext,
  step: readonly ObjectPlan[],
  outcomes: ReadonlyMap<string, ObjectOutcome>,
): Promise<boolean> {
  const applied = step.filter(({ id }) => isCrdId(id) && outcomes.get(objectKey(id))?.state === 'applied');
  if (applied.length === 0) return false;
  await Promise.all(applied.map((plan) => waitForKindOf(context, plan)));
  context.live.retryUnserved();
  return true;
}

/** Waits until the kind of the CRD is served. A kind that is not served in time is left to a later reconcile. */
async function waitForKindOf(
  { client, clock, signal, log }: SyncContext,
  { id, object }: ObjectPlan,
): Promise<void> {
  const served = listAt(object, 'spec', 'versions').find((each) => valueAt(each, 'served') === true);
  if (served === undefined) return;
  const version = textAt(served, 'name') ?? '';
  const kind = textAt(object, 'spec', 'names', 'kind') ?? '';
  const apiVersion = `${textAt(object, 'spec', 'group') ?? ''}/${version}`;
  try {
    await waitUntilServed(client, clock, { apiVersion, kind }, signal);
  } catch (error) {
    if (!isKubeError(error, ...NOT_SERVED_YET, 'Forbidden', 'Invalid')) throw error;
    log.warn('new kind not served in time', { object: objectKey(id), error });
  }
}

/** Asks a server by dry run what the objects of a plan would change. Persists nothing. */
import { ANNOTATION_COMMIT, ANNOTATION_SOURCE, MANAGER_SYNC } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { type DryRun, dryRunApply } from '../../kube/client/dry-run.ts';
import { isKubeError, type KubeError } from '../../kube/client/errors.ts';
import { nameOf } from '../../kube/client/paths.ts';
import { formatDifferences } from '../../kube/objects/diff.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { objectKey } from '../../kube/objects/object-id.ts';
import { runConcurrently } from '../../kube/process/run-concurrently.ts';
import { isSopsEncrypted } from '../../kube/sops/leaves.ts';
import { withoutAnswer } from '../apply/apply-object.ts';
import { isOwnedByForced } from '../apply/ownership/forced-managers.ts';
import { leaveIgnored } from '../apply/ownership/ignored-fields.ts';
import { planTakeover, type Takeover } from '../apply/ownership/takeover.ts';
import type { ObjectPlan, TargetPlan } from '../apply/plan.ts';
import { canReplace } from '../apply/replace/immutable.ts';
import { readLockedReason } from '../apply/replace/locked.ts';
import { scopeMismatchReason } from '../apply/scope.ts';
import { sourceText } from '../rendered.ts';
import { decryptedLines, encryptedLines } from './encrypted.ts';
import type { PreviewChange } from './preview.ts';

export interface ChangeOptions {
  readonly client: Client;
  /** UID of the hub. */
  readonly hub: string;
  /** The keys of the objects that the commit before encrypts: the cluster has their values, which the plan must not show. */
  readonly encryptedBefore: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

type OnWritten = (object: KubeObject) => void;

/** Returns the changes of the objects that a plan would write. Rejects when the server does not answer, and once the signal is aborted. */
export async function changesOf(
  { client, hub, encryptedBefore, signal }: ChangeOptions,
  plan: Pick<TargetPlan, 'objects'>,
  onWritten: OnWritten,
): Promise<ReadonlyMap<ObjectPlan, PreviewChange>> {
  const changes = new Map<ObjectPlan, PreviewChange>();
  await runConcurrently(
    plan.objects.filter(({ action }) => action !== 'same'),
    async (object) => {
      const change = await changeOf({ client, hub, encryptedBefore, signal, onWritten }, object);
      if (change) changes.set(object, change);
    },
  );
  return changes;
}

/** These annotations change with every commit and are not shown. */
const HIDDEN_ANNOTATIONS = [ANNOTATION_COMMIT, ANNOTATION_SOURCE];

interface ChangeContext extends ChangeOptions {
  readonly onWritten: OnWritten;
}

async function changeOf(context: ChangeContext, plan: ObjectPlan): Promise<PreviewChange | undefined> {
  const { client, signal } = context;
  // A commit may have thousands of objects, and its plan a time limit.
  signal.throwIfAborted();
  const about = { object: objectKey(plan.id), source: sourceText(plan.rendered.source) };
  // A kind that is not served yet comes with its CRD: its objects can only be created.
  if (plan.action === 'wait') return { action: 'create', ...about, details: [plan.because] };
  try {
    const resource = await client.resourceFor(plan.object.apiVersion, plan.object.kind);
    const mismatch = scopeMismatchReason(resource, plan.id);
    if (mismatch !== undefined) return { ...about, action: 'refused', details: [mismatch] };
    const change = await changeOfServed(context, resource, plan);
    return change && { ...about, ...change };
  } catch (error) {
    if (!isKubeError(error, 'Invalid', 'Conflict', 'Forbidden', 'NotFound')) throw error;
    return { ...about, ...(await changeAfter(context, plan, error)) };
  }
}

async function changeOfServed(
  context: ChangeContext,
  resource: Resource,
  plan: ObjectPlan,
): Promise<Pick<PreviewChange, 'action' | 'details'> | undefined> {
  const found = await readFound(context, resource, plan);
  if (!found) return writtenChange(context, resource, { ...plan, object: plan.declared }, undefined);
  const takeover = plan.uid === undefined ? planTakeover(plan, found, context.hub) : undefined;
  if (takeover && takeover.action !== 'write') return changeWithout(takeover);
  const { force } = takeover ?? plan;
  return writtenChange(context, resource, writeOver({ ...plan, force }, found), takeover);
}

function changeWithout({
  action,
  because,
}: Exclude<Takeover, { action: 'write' }>): Pick<PreviewChange, 'action' | 'details'> {
  return { action: action === 'wait' ? 'create' : 'refused', details: [because] };
}

async function writtenChange(
  { client, encryptedBefore, signal, onWritten }: ChangeContext,
  resource: Resource,
  plan: ObjectPlan,
  takeover: Extract<Takeover, { action: 'write' }> | undefined,
): Promise<Pick<PreviewChange, 'action' | 'details'> | undefined> {
  // Only sync has the keys: a preview has no values to send to the server.
  if (isSopsEncrypted(plan.rendered.object)) return encryptedChange(plan, takeover);
  const run = await dryRunApply(client, resource, plan.object, {
    fieldManager: MANAGER_SYNC,
    force: plan.force,
    signal,
  });
  onWritten(run.result);
  const details = shownDifferences(run, encryptedBefore.has(objectKey(plan.id)));
  if (run.action === 'create') return { action: 'create', details };
  if (isAdoption(plan, takeover)) return { action: 'adopt', details };
  return details.length > 0 ? { action: 'update', details } : undefined;
}

function encryptedChange(
  plan: ObjectPlan,
  takeover: Extract<Takeover, { action: 'write' }> | undefined,
): Pick<PreviewChange, 'action' | 'details'> {
  const action = plan.action === 'create' && !takeover ? 'create' : 'update';
  const details = [plan.because, ...encryptedLines(undefined, plan.rendered.object)];
  return { action: isAdoption(plan, takeover) ? 'adopt' : action, details };
}

function shownDifferences({ differences }: DryRun, isEncryptedBefore: boolean): string[] {
  const shown = differences.filter(({ path }) => !HIDDEN_ANNOTATIONS.some((name) => path.includes(name)));
  return isEncryptedBefore ? decryptedLines(shown) : formatDifferences(shown);
}

function answerText({ encryptedBefore }: ChangeContext, plan: ObjectPlan, error: KubeError): string {
  return encryptedBefore.has(objectKey(plan.id)) ? withoutAnswer(plan, error) : error.message;
}

/** Tells whether another client created the object, and sync takes it over for the first time. */
function isAdoption({ entry }: ObjectPlan, takeover: Takeover | undefined): boolean {
  return takeover?.action === 'write' && takeover.adopted && entry?.adopted !== true;
}

/** Completes a write as sync does: with the live values of ignored fields, and over the fields of managers that the Pipeline names. */
function writeOver(plan: ObjectPlan, found: KubeObject): ObjectPlan {
  const { object } = leaveIgnored(plan.declared, found, plan.ignored);
  return { ...plan, object, force: plan.force || isOwnedByForced(plan.object, found, plan.forceManagers) };
}

/**
 * Reads an object whose takeover or field managers decide about the write: one that sync would create and that exists, or that has
 * ignored fields or managers to take over. Undefined if it does not exist.
 */
async function readFound(
  { client, signal }: ChangeContext,
  resource: Resource,
  { uid, object, ignored, forceManagers }: ObjectPlan,
): Promise<KubeObject | undefined> {
  if (uid !== undefined && ignored.length + forceManagers.length === 0) return undefined;
  try {
    return await client.get(resource, nameOf(object), { signal });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function changeAfter(
  context: ChangeContext,
  plan: ObjectPlan,
  error: KubeError,
): Promise<Pick<PreviewChange, 'action' | 'details'>> {
  const text = answerText(context, plan, error);
  if (canReplace(plan, error)) {
    const locked = await readLockedReason(context.client, plan);
    return locked === undefined
      ? { action: 'replace', details: [text] }
      : { action: 'held', details: [locked] };
  }
  // Its namespace comes with the same commit, so the dry run cannot find it yet.
  if (error.code === 'NotFound') return { action: 'create', details: [] };
  return { action: 'refused', details: [text] };
}

/**
 * What a commit would do in one cluster, as that cluster itself says: the plan of sync over what is there now, and a
 * server-side dry run for each object that it would write. Reads only.
 */
import { ANNOTATION_COMMIT, ANNOTATION_SOURCE, LABEL_HUB, MANAGER_SYNC } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { dryRunApply } from '../../kube/client/dry-run.ts';
import { isKubeError, type KubeError } from '../../kube/client/errors.ts';
import { formatDifferences } from '../../kube/objects/diff.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { groupOf, type ObjectId, objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { canReplace } from '../apply/immutable.ts';
import type { Inventory } from '../apply/inventory/inventory.ts';
import { openInventory } from '../apply/inventory/store.ts';
import { type ObjectPlan, planTarget, type TargetPlan } from '../apply/plan.ts';
import { runConcurrently } from '../apply/run-concurrently.ts';
import { type RenderedTarget, sourceText } from '../rendered.ts';
import type { Change, Limits, UnitPreview } from './preview.ts';

export interface LiveQuestion {
  readonly client: Client;
  readonly clusterUID: string;
  /** UID of the hub. */
  readonly hub: string;
  readonly scope: string;
  readonly target: RenderedTarget;
  readonly commit: string;
  readonly limits: Limits;
}

/** Rejects when the cluster cannot be read: then nothing is known. */
export async function previewLive(question: LiveQuestion): Promise<UnitPreview[]> {
  const { client, clusterUID, hub, scope, target, commit, limits } = question;
  const inventory = (await openInventory(client, { clusterUID, scope })).inventory();
  const live = await readLive(client, kindsOf(target, inventory));
  const plan = planTarget({
    hub,
    commit,
    units: target.units,
    inventory,
    live,
    unknownReason: ({ kind }) => `${kind} is not served there yet`,
    serverForms: new Map(),
    ...limits,
  });
  const changes = await changesOf(client, plan);
  return unitsOf(plan, changes);
}

type LiveView = (id: ObjectId) => KubeObject | 'absent' | 'unknown';

async function readLive(client: Client, kinds: ReadonlyMap<string, string>): Promise<LiveView> {
  const seen = new Map<string, KubeObject>();
  const unserved = new Set<string>();
  for (const [groupKind, apiVersion] of kinds) {
    const found = await markedOf(client, apiVersion, groupKind.split('/')[1] ?? '');
    if (found === 'unserved') unserved.add(groupKind);
    else for (const object of found) seen.set(objectKey(objectIdOf(object)), object);
  }
  return (id) => (unserved.has(`${id.group}/${id.kind}`) ? 'unknown' : (seen.get(objectKey(id)) ?? 'absent'));
}

async function markedOf(
  client: Client,
  apiVersion: string,
  kind: string,
): Promise<KubeObject[] | 'unserved'> {
  try {
    const resource = await client.resourceFor(apiVersion, kind);
    const found: KubeObject[] = [];
    for await (const { items } of client.pages(resource, { labelSelector: LABEL_HUB })) {
      // Items of a list do not say what they are.
      found.push(...items.map((item) => ({ ...item, apiVersion, kind })));
    }
    return found;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return 'unserved';
    throw error;
  }
}

function kindsOf({ units }: RenderedTarget, { entries }: Inventory): Map<string, string> {
  const wanted = units.flatMap(({ objects }) => objects.map(({ object }) => object));
  return new Map([
    ...[...entries.values()].map(
      ({ group, version, kind }) => [`${group}/${kind}`, group ? `${group}/${version}` : version] as const,
    ),
    ...wanted.map(({ apiVersion, kind }) => [`${groupOf(apiVersion)}/${kind}`, apiVersion] as const),
  ]);
}

async function changesOf(client: Client, plan: TargetPlan): Promise<ReadonlyMap<ObjectPlan, Change>> {
  const changes = new Map<ObjectPlan, Change>();
  await runConcurrently(
    plan.wanted.filter(({ action }) => action !== 'same'),
    async (entry) => {
      const change = await changeOf(client, entry);
      if (change) changes.set(entry, change);
    },
  );
  return changes;
}

/** They move with the commit, and say nothing of what it changes. */
const MARKS = [ANNOTATION_COMMIT, ANNOTATION_SOURCE];

async function changeOf(client: Client, entry: ObjectPlan): Promise<Change | undefined> {
  const about = { object: objectKey(entry.id), source: sourceText(entry.rendered.source) };
  // What nobody serves yet comes with its CRD, and can only be created.
  if (entry.action === 'wait') return { action: 'create', ...about, details: [entry.because] };
  try {
    const resource = await client.resourceFor(entry.object.apiVersion, entry.object.kind);
    const run = await dryRunApply(client, resource, entry.object, {
      fieldManager: MANAGER_SYNC,
      force: entry.ours,
    });
    const details = formatDifferences(
      run.differences.filter(({ path }) => !MARKS.some((mark) => path.includes(mark))),
    );
    const nothing = run.action !== 'create' && details.length === 0;
    return nothing ? undefined : { action: run.action === 'create' ? 'create' : 'update', ...about, details };
  } catch (error) {
    if (!isKubeError(error, 'Invalid', 'Conflict', 'Forbidden', 'NotFound')) throw error;
    return { ...about, ...actionAfter(entry, error) };
  }
}

function actionAfter(entry: ObjectPlan, error: KubeError): Pick<Change, 'action' | 'details'> {
  if (canReplace(entry, error)) return { action: 'replace', details: [error.message] };
  // Its namespace comes with the same commit, so the server cannot try it yet.
  if (error.code === 'NotFound') return { action: 'create', details: [] };
  return { action: 'refused', details: [error.message] };
}

function unitsOf(plan: TargetPlan, changes: ReadonlyMap<ObjectPlan, Change>): UnitPreview[] {
  const names = [...plan.wanted.map(({ unit }) => unit), ...plan.left.map(({ entry }) => entry.unit)];
  return [...new Set(names)].toSorted(byCode).flatMap((unit) => {
    const written = plan.wanted
      .filter((entry) => entry.unit === unit)
      .flatMap((entry) => changes.get(entry) ?? []);
    const deleted = plan.left
      .filter(({ entry, action }) => entry.unit === unit && GOES.has(action))
      .map(
        ({ entry, because }): Change => ({
          action: 'delete',
          object: objectKey(entry),
          details: because === 'left git' ? [] : [because],
        }),
      );
    const found = plan.holds.find((hold) => hold.unit === unit);
    const hold = found ? { hold: { planDigest: found.planDigest, because: found.because } } : {};
    const all = [...written, ...deleted];
    return all.length > 0 || found ? [{ unit, changes: all, ...hold }] : [];
  });
}

const GOES: ReadonlySet<string> = new Set(['delete', 'mark', 'held']);

/** Notes of `kubenode plan` about hosted control planes that a commit changes: steps, outage, rollback, and APIs that go. Pure. */
import type { Freeze, Window } from '../../api/generated/types.ts';
import { validate } from '../../api/validation/validate.ts';
import { BALANCERS } from '../../controllers/hosting/drivers/driver.ts';
import { UPGRADE_STEPS } from '../../controllers/hosting/plan/upgrade/steps.ts';
import { minorOf, minorsBetween } from '../../controllers/hosting/plan/upgrade/versions.ts';
import { canonicalJson } from '../../kube/objects/digest.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { judgingTimes } from '../../rollout/closed-times.ts';
import { type ClosedTimes, closedLimit } from '../../rollout/maintenance-windows.ts';
import type { Rendered } from '../../sync/rendered.ts';
import { exposureNotes } from './exposure-notes.ts';
import {
  etcdOutageText,
  FIXED_FOR_PODS,
  orderText,
  podCountText,
  podOutageText,
  RESERVED_BY_PODS,
} from './pod-notes.ts';
import { rotationInStatus, rotationNotes } from './rotation-notes.ts';

/** The fields whose change starts members again, with their defaults: what git declares has none. */
const CHANGED: Readonly<Record<string, unknown>> = {
  version: undefined,
  'etcd.quotaMiB': 2048,
  'apiServer.extraArgs': {},
  'controllerManager.extraArgs': {},
  'scheduler.extraArgs': {},
};

/** `before` are the Clusters of the hub with their status, or those of the former commit. */
export function hostedChangeNotes(before: readonly KubeObject[], to: Rendered, now: Date): readonly string[] {
  return hostedClusters(to).flatMap((after) => {
    const { name } = after.metadata;
    const found = before.find((each) => each.metadata.name === name && hostedField(each) !== undefined);
    const notes = found
      ? [...planeNotes({ before: found, after, now }), ...rotationNotes(found, after)]
      : newPlaneNotes(after);
    return notes.map((note) => `Cluster ${name}: ${note}`);
  });
}

/** The number of members is fixed at creation, so that a later note would come too late. */
function newPlaneNotes(after: KubeObject): readonly string[] {
  const isSingle = Number(hostedField(after, 'etcd.replicas') ?? 1) === 1;
  if (!isSingle || textAt(after, 'spec', 'environment') !== 'prod') return [];
  return [
    'its etcd has one member, and its environment is prod: when that member loses its data, only a backup has it. spec.hosted.etcd.replicas: 3 is possible at creation only',
  ];
}

export function hostedClusters({ targets }: Pick<Rendered, 'targets'>): readonly KubeObject[] {
  const objects = targets.flatMap(({ units }) => units.flatMap((unit) => unit.objects));
  return objects.map(({ object }) => object).filter((object) => isHosted(object));
}

/** Leaves out objects that the schema refuses: they are reported with a message of their own. */
function isHosted(object: KubeObject): boolean {
  return object.kind === 'Cluster' && hostedField(object) !== undefined && validate(object).length === 0;
}

interface PlaneChange {
  readonly before: KubeObject;
  readonly after: KubeObject;
  readonly now: Date;
}

function planeNotes(change: PlaneChange): readonly string[] {
  const exposure = exposureNotes(change.before, change.after);
  const held = memberNotes(change).length > 0 || exposure.length === 0 ? [] : closedNotes(change);
  return [...countNotes(change), ...exposure, ...held, ...memberNotes(change)];
}

/** Returns how the number of API servers changes, which comes before all else. */
function countNotes({ before, after }: PlaneChange): readonly string[] {
  const [from, to] = [before, after].map((each) => Number(hostedField(each, 'replicas') ?? 1));
  if (from === to) return [];
  const rotation = rotationInStatus(before);
  const when = rotation === undefined ? '' : `, when the rotation ${rotation} of its authorities is over`;
  return [
    `its API servers change from ${from} to ${to}, one at a time${when}: ${countText({ before, after }, from, to)}`,
  ];
}

function countText({ before, after }: Pick<PlaneChange, 'before' | 'after'>, from = 1, to = 1): string {
  if (isOfPods({ after })) return podCountText(from, to);
  return from === 1 && !hasBalancers(before)
    ? 'balancers take the port of the only one, which does not answer for 1 to 5 s meanwhile'
    : 'no outage is expected';
}

/** Balancers stay where there were once several API servers. */
function hasBalancers(cluster: KubeObject): boolean {
  const components = listAt(cluster, 'status', 'hosted', 'components');
  return components.some((each) => textAt(each, 'name') === BALANCERS[0]);
}

function memberNotes(change: PlaneChange): readonly string[] {
  const fixed = fixedFields(change);
  if (fixed.length > 0) return [fixedNote(fixed)];
  const fields = changedFields(change);
  if (fields.length === 0) return [];
  const { from, to } = versionsOf(change);
  const refused = refusalNote(change);
  if (refused !== undefined) return [refused];
  const soak = Number(hostedField(change.after, 'upgrade.soakSeconds') ?? 60);
  const steps = UPGRADE_STEPS.filter(
    (step) => step !== 'RollingBack' && (step !== 'Snapshot' || from !== to),
  );
  const what = from === to ? fields.join(', ') : `${from} to ${to}`;
  return [
    `its control plane changes (${what}): ${steps.join(', ')}; the soak takes ${soak} s`,
    outageNote(change),
    ...rollbackNotes(change),
    ...(isReturn(change) ? [] : closedNotes(change)),
    ...removedApiNotes(change),
  ];
}

function changedFields(change: PlaneChange): readonly string[] {
  return differing(change, isOfPods(change) ? { ...CHANGED, ...RESERVED_BY_PODS } : CHANGED);
}

function fixedFields(change: PlaneChange): readonly string[] {
  return isOfPods(change) ? differing(change, FIXED_FOR_PODS) : [];
}

function fixedNote(fields: readonly string[]): string {
  return `driver workload does not change this of a control plane that exists (${fields.join(', ')}): hosting refuses it as ChangeNotSupported`;
}

function isOfPods({ after }: Pick<PlaneChange, 'after'>): boolean {
  return hostedField(after, 'driver') === 'workload';
}

/** `defaults`: the fields, with what they are where git declares nothing. */
function differing(
  { before, after }: PlaneChange,
  defaults: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.keys(defaults).filter((field) => {
    const [is, should] = [before, after].map((each) =>
      canonicalJson(hostedField(each, field) ?? defaults[field] ?? null),
    );
    return is !== should;
  });
}

/** Returns why hosting does not carry the change out. */
function refusalNote(change: PlaneChange): string | undefined {
  const { from, to } = versionsOf(change);
  const minors = minorsBetween(from, to);
  if (minors > 1) {
    return `${to} is ${minors} minor versions after ${from}: change one minor version at a time`;
  }
  if (minors >= 0 || isReturn(change)) return undefined;
  return `${to} is older than ${from}, which passed its point of no return: hosting refuses it as RollbackImpossible`;
}

function isReturn({ before, after }: PlaneChange): boolean {
  const status = valueAt(before, 'status', 'hosted');
  const isPossible = valueAt(status, 'rollbackPossible') === true;
  return isPossible && textAt(status, 'rollbackVersion') === hostedField(after, 'version');
}

function outageNote(change: PlaneChange): string {
  const { from, to } = versionsOf(change);
  const replicas = Number(hostedField(change.after, 'replicas') ?? 1);
  const etcdMembers = Number(hostedField(change.after, 'etcd.replicas') ?? 1);
  const fields = changedFields(change);
  if (fields.every((field) => /^(controllerManager|scheduler)\./.test(field))) {
    const servers = replicas > 1 ? 'API servers are' : 'API server is';
    return `its ${servers} not started again: no outage is expected`;
  }
  if (isOfPods(change)) return podOutageText(fields, etcdMembers, replicas);
  if (replicas > 1) return `${orderText(replicas)}${etcdOutageText(fields, etcdMembers)}`;
  const times = minorsBetween(from, to) === 0 ? 'once' : 'twice';
  return `its one API server is started again ${times}: ${durationText(change.before)}`;
}

/** The measurement is that of this very control plane: another one has another machine and other objects. */
function durationText(before: KubeObject): string {
  const outage = valueAt(before, 'status', 'hosted', 'lastOutage');
  if (valueAt(before, 'status') === undefined) {
    return 'how long it does not answer each time was not read: run the plan with the hub';
  }
  if (outage === undefined) return 'how long it does not answer each time was not measured yet';
  const seconds = (Number(valueAt(outage, 'milliseconds')) / 1000).toFixed(1);
  const at = textAt(outage, 'at') ?? '';
  return textAt(outage, 'cause') === 'Change'
    ? `its last change took ${seconds} s without an answer, as measured at ${at}`
    : `its last start took ${seconds} s, as measured at ${at}, and the end of the former process comes on top`;
}

function rollbackNotes(change: PlaneChange): readonly string[] {
  const { from, to } = versionsOf(change);
  if (isReturn(change)) return [`it is a rollback to ${to}, which is possible now`];
  if (minorsBetween(from, to) === 0) {
    return ['a later commit with the former values takes it back at any time'];
  }
  return [
    `until PointOfNoReturn a commit with ${from} takes it back, and a failure does so by itself; after it only a snapshot of etcd has the former state`,
  ];
}

/** The objects are valid, so that these have the types of the schema. */
function timesAt(value: unknown): ClosedTimes {
  const windows = listAt(value, 'windows') as readonly Window[];
  return { windows, freezes: listAt(value, 'freezes') as readonly Freeze[] };
}

/** Those before the commit hold its change, too. */
function closedNotes({ before, after, now }: PlaneChange): readonly string[] {
  const inForce = timesAt(valueAt(before, 'status', 'hosted', 'closedTimes'));
  const [former, own] = [before, after].map((each) => timesAt(hostedField(each, 'upgrade')));
  const limit = own && former && closedLimit(judgingTimes(own, judgingTimes(former, inForce)), now);
  return limit ? [`the change is held: ${limit.because}`] : [];
}

function removedApiNotes(change: PlaneChange): readonly string[] {
  const { from, to } = versionsOf(change);
  if (minorsBetween(from, to) <= 0) return [];
  const { before } = change;
  if (valueAt(before, 'status', 'hosted') === undefined) {
    return [
      `which APIs ${minorOf(to)} removes while clients use them was not read: run the plan with the hub`,
    ];
  }
  const removed = listAt(before, 'status', 'hosted', 'deprecatedApis').filter(
    (each) => minorsBetween(`v${textAt(each, 'removedIn') ?? ''}.0`, to) >= 0,
  );
  if (removed.length === 0) {
    return [`clients use no API that ${minorOf(to)} removes, since its API server was started`];
  }
  return removed.map(
    (each) =>
      `${textAt(each, 'api')} is in use, and is not served from ${textAt(each, 'removedIn')} on: change its clients first`,
  );
}

function versionsOf({ before, after }: PlaneChange): { readonly from: string; readonly to: string } {
  const [from, to] = [before, after].map((each) => String(hostedField(each, 'version')));
  return { from: from ?? '', to: to ?? '' };
}

function hostedField(cluster: KubeObject, field?: string): unknown {
  return valueAt(cluster, 'spec', 'hosted', ...(field === undefined ? [] : field.split('.')));
}

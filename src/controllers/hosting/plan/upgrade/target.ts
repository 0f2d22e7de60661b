/** Finds what a control plane is to be changed to, and why it is not. Pure. */
import { digestOf } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { SettledPlane } from '../../drivers/driver.ts';
import { changedByUpgrade, type MemberRuns, memberRuns } from '../../drivers/runs.ts';
import type { HostingInput, HostingWait, Upgrade } from '../input.ts';
import { memberReport } from '../members.ts';
import { planeOf } from '../plane-of.ts';
import { hostingProblems } from '../problems.ts';
import { programsSource } from '../programs.ts';
import { wait, withHint } from '../wait.ts';
import { controllersDifference, controllersDigest, desiredControllers } from './controllers.ts';
import { isNewerMinor, minorAfter, minorOf, minorsBetween } from './versions.ts';

/** Identifies a version with its settings. Settings that need no change of a member, such as the lifetime of certificates, are not part of it. */
export function targetDigest(target: Pick<SettledPlane, 'version' | 'settings' | 'requests'>): string {
  return digestOf(changedByUpgrade(target));
}

type TargetInput = Pick<HostingInput, 'cluster' | 'hosted' | 'plane'>;

/** Returns the version and settings of the spec. The version of etcd is unknown while its programs are missing. */
export function specTarget(input: TargetInput): SettledPlane {
  const { version, settings, placement } = planeOf(input.cluster, input.hosted);
  return {
    version,
    settings,
    etcdVersion: etcdOf(input, version),
    ...optional('requests', placement?.requests),
    ...optional('controllers', input.plane.settled?.controllers),
  };
}

/** Returns what the change in work, or the next one, leads to. One of our own controllers changes nothing else. */
export function targetOf(input: TargetInput): SettledPlane {
  const { settled } = input.plane;
  const controllers = input.cluster.status?.hosted?.upgrade?.controllers;
  return settled && controllers !== undefined ? { ...settled, controllers } : specTarget(input);
}

/** Tells whether the change in work leads to something else than what is declared now. */
export function isTargetChanged(input: HostingInput, { digest, controllers }: Upgrade): boolean {
  if (controllers !== undefined) return desiredControllers(input) !== controllers;
  return digest !== targetDigest(specTarget(input));
}

function etcdOf({ plane }: Pick<HostingInput, 'plane'>, version: string): string | undefined {
  if (!('versions' in plane.programs)) return undefined;
  return plane.programs.versions.find(({ kubernetes }) => kubernetes === version)?.etcd;
}

/** Returns the members as they are before the point of no return: a newer minor version emulates the older one. */
export function emulatingRuns(settled: SettledPlane, target: SettledPlane): MemberRuns {
  return memberRuns(
    target,
    isNewerMinor(settled.version, target.version) ? minorOf(settled.version) : undefined,
  );
}

/** Tells whether the point of no return was passed, by what the driver has recorded. */
export function isTargetSettled({ plane }: HostingInput, { digest, controllers }: Upgrade): boolean {
  if (!plane.settled) return false;
  return controllers === undefined
    ? targetDigest(plane.settled) === digest
    : plane.settled.controllers === controllers;
}

/** Returns why the control plane is not changed to its spec. It keeps what it has. */
export function targetProblem(input: HostingInput): HostingWait | undefined {
  const { plane, cluster } = input;
  if (!plane.settled || isLoading(input)) return undefined;
  const found =
    plane.differences.length === 0
      ? controllersProblem(input)
      : findProblem(input, plane.settled, specTarget(input));
  if (!found) return undefined;
  const [reason, message, hint] = found;
  const text = hint === undefined ? message : withHint(message, hint);
  return wait(reason, text, ['Cluster', cluster.metadata.name], 'stalled');
}

/** Tells whether the programs are still looked for. */
function isLoading({ plane: { programs } }: HostingInput): boolean {
  return 'problem' in programs && programs.isLoading;
}

function findProblem(input: HostingInput, settled: SettledPlane, target: SettledPlane): Problem | undefined {
  const [unsupported] = hostingProblems(input.cluster, input.hosted);
  if (unsupported !== undefined) return ['NotSupported', unsupported];
  return (
    fixedProblem(input) ??
    replicasProblem(settled, target) ??
    versionProblem(settled, target) ??
    rolledBack(input, targetDigest(target), specChangeText(input, target)) ??
    programsProblem(input, target) ??
    etcdProblem(input, settled, target)
  );
}

/** A volume is not made larger, and the address of clients is in every kubeconfig. */
function fixedProblem({ plane: { fixed = [] }, hosted }: HostingInput): Problem | undefined {
  if (fixed.length === 0) return undefined;
  const message = `driver ${hosted.driver} does not change this of a control plane that exists: ${fixed.join('; ')}`;
  return ['ChangeNotSupported', message, 'set it to what it was, or create another Cluster'];
}

type Problem = readonly [reason: string, message: string, hint?: string];

/** Each API server was started with the members of etcd that there were. */
function replicasProblem(settled: SettledPlane, target: SettledPlane): Problem | undefined {
  const [from, to] = [settled, target].map(({ settings }) => settings.etcdReplicas ?? 1);
  if (from === to) return undefined;
  const message = `the control plane was created with ${from} members of etcd, and their number cannot be changed to ${to}`;
  return ['ReplicasFixed', message, `set spec.hosted.etcd.replicas to ${from}, or create another Cluster`];
}

function versionProblem(settled: SettledPlane, target: SettledPlane): Problem | undefined {
  const minors = minorsBetween(settled.version, target.version);
  if (minors === 0 || minors === 1) return undefined;
  if (minors > 1) {
    const message = `${target.version} is ${minors} minor versions after ${settled.version}`;
    const hint = `set spec.hosted.version to a version of ${minorAfter(settled.version)} first: one minor version at a time`;
    return ['VersionSkew', message, hint];
  }
  const hint = `set spec.hosted.version to ${settled.version}`;
  const message = `the control plane has passed the point of no return to ${settled.version}`;
  return [
    'RollbackImpossible',
    message,
    `${hint}; ${target.version} can only be had from a backup, in another Cluster`,
  ];
}

/** Finds that the target was taken back: it is not tried again before a person asks for it. */
function rolledBack({ cluster, hosted }: HostingInput, digest: string, what: string): Problem | undefined {
  const failed = cluster.status?.hosted?.rolledBack;
  if (!failed || failed.digest !== digest || failed.retryToken !== hosted.retryToken) return undefined;
  const message = `the change to ${what} was taken back: ${failed.message}`;
  return ['RolledBack', message, 'fix the cause, then change spec.hosted.retryToken'];
}

function specChangeText({ plane }: HostingInput, { version }: SettledPlane): string {
  return plane.differences.some((text) => text.startsWith('version ')) ? version : 'other flags';
}

function controllersProblem(input: HostingInput): Problem | undefined {
  const image = controllersDifference(input) === undefined ? undefined : desiredControllers(input);
  return image === undefined ? undefined : rolledBack(input, controllersDigest(image), image);
}

function programsProblem({ plane }: HostingInput, target: SettledPlane): Problem | undefined {
  if (target.etcdVersion !== undefined) return undefined;
  const has =
    'versions' in plane.programs
      ? `this hosting has the programs of ${plane.programs.versions.map(({ kubernetes }) => kubernetes).join(', ')}, and not of ${target.version}`
      : `the programs of ${target.version} are not available: ${plane.programs.problem}`;
  return ['VersionNotAvailable', has, programsSource(plane, target.version)];
}

/** A newer minor version of etcd changes the format of its data. Where no version was recorded, it is that of the etcd that runs. */
function etcdProblem(
  input: HostingInput,
  settled: SettledPlane,
  { etcdVersion: to }: SettledPlane,
): Problem | undefined {
  const from = settled.etcdVersion ?? memberReport(input, 'etcd')?.version;
  if (from === undefined || to === undefined) return undefined;
  const minors = minorsBetween(from, to);
  const message = `etcd would change from ${from} to ${to}, and only a snapshot takes that back`;
  if (minors < 0) {
    return ['RollbackImpossible', message, 'use programs with an etcd of the same minor version'];
  }
  if (minors === 0 || input.hosted.upgrade.allowEtcdUpgrade) return undefined;
  return ['EtcdUpgradeNotAllowed', message, 'set spec.hosted.upgrade.allowEtcdUpgrade to true'];
}

/** Explains why the fleet is not in an expected state yet; returns undefined when it is. Pure. */
import type {
  Cluster,
  DefenderLedger,
  FleetPolicy,
  Machine,
  MachineComponentSet,
  Pipeline,
  Release,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { isCordoned } from '../../api/machine/node-state.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { shortCommit } from '../../views/text/age.ts';

/** The stages, in the order in which commits reach them. */
export const STAGES = ['test', 'pre', 'prod'] as const;

export function notProvenReason(
  clusters: readonly Cluster[],
  commit: string,
  names: readonly string[] = STAGES,
): string | undefined {
  return names.map((name) => stateReason(clusters, { name, state: 'Proven', commit })).find(Boolean);
}

/** Explains why the stages after the first one do not all run this commit; undefined: they do. */
export function laterStagesReason(clusters: readonly Cluster[], commit: string): string | undefined {
  const later = STAGES.filter((name) => name !== STAGES[0]);
  return notProvenReason(clusters, commit, later);
}

export function notFailedReason(clusters: readonly Cluster[], commit: string): string | undefined {
  return stateReason(clusters, { name: 'test', state: 'Failed', commit });
}

interface ExpectedState {
  readonly name: string;
  readonly state: string;
  readonly commit: string;
}

function stateReason(
  clusters: readonly Cluster[],
  { name, state, commit }: ExpectedState,
): string | undefined {
  const sync = clusters.find(({ metadata }) => metadata.name === name)?.status?.sync;
  if (sync === undefined) return `${name}: not observed yet`;
  if (sync.state === state && sync.commit === commit) return undefined;
  return `${name}: ${sync.state} at ${shortCommit(sync.commit)}: ${sync.message}`;
}

/** Explains why the stages were not proven one after the other; undefined: each was proven before the next. */
export function orderReason(clusters: readonly Cluster[], commit: string): string | undefined {
  const times = STAGES.map((name) => {
    const cluster = clusters.find(({ metadata }) => metadata.name === name);
    return Date.parse(cluster?.status?.sync?.proven?.find((each) => each.commit === commit)?.provenAt ?? '');
  });
  const [test = Number.NaN, pre = Number.NaN, prod = Number.NaN] = times;
  if (test < pre && pre < prod) return undefined;
  return `proven at ${times.map((ms, index) => `${STAGES[index]} ${ms}`).join(', ')}`;
}

/** Lists the machines that do not run this version of the component `web`; undefined: all of them run it. */
export function otherVersionReason(machines: readonly Machine[], version: string): string | undefined {
  const ref = `web-${version}`;
  const others = machines.flatMap(({ metadata, status }) => {
    const found = status?.components?.find(({ name }) => name === 'web')?.currentRef;
    return found === ref ? [] : [`${metadata.name} runs ${found}`];
  });
  if (machines.length === 0) return 'no machine was found';
  return others.length === 0 ? undefined : `not ${ref}: ${others.join(', ')}`;
}

/** Explains why the rollout did not stop as expected; undefined: one machine failed, in the first batch, and the set reports why. */
export function notStoppedReason({ status }: MachineComponentSet): string | undefined {
  const failed = status?.failedMachines ?? [];
  if (failed.length !== 1) return `failed machines: ${failed.length}, expected 1`;
  const { message } = conditionOf(status?.conditions, 'Ready') ?? {};
  return message?.includes('answered 500') ? undefined : `Ready of the set: ${message}`;
}

/** Explains why the head is not accepted as expected; undefined: it is. */
export function notAcceptedReason(pipeline: Pipeline | undefined, expected: string): string | undefined {
  const { commit, verdict, message = '' } = pipeline?.status?.head ?? {};
  if (commit !== expected) return `the pipeline is at ${shortCommit(commit)}`;
  return verdict === 'Accepted' ? undefined : `${verdict}: ${message}`;
}

/** Explains why the head is not refused for its missing signature; undefined: it is. */
export function notUnsignedReason(pipeline: Pipeline | undefined, unsigned: string): string | undefined {
  const { commit, verdict, message = '' } = pipeline?.status?.head ?? {};
  if (commit !== unsigned) return `the pipeline is at ${shortCommit(commit)}`;
  const isExpected = verdict === 'BadSignature' && message.includes('not signed');
  return isExpected ? undefined : `${verdict}: ${message}`;
}

/** Explains why no stage waits for the end of a freeze with this commit; undefined: one does. */
export function notFrozenReason(releases: readonly Release[], commit: string): string | undefined {
  const found = releases.find(({ spec }) => spec.commit === commit);
  if (!found) return `no Release of ${shortCommit(commit)} yet`;
  const stages = found.status?.stages ?? [];
  if (stages.some(({ waiting }) => waiting?.reason === 'Freeze')) return undefined;
  return `no stage waits: ${stages.map(({ name, state }) => `${name} ${state}`).join(', ')}`;
}

/** Explains why the bad commit is not refused as expected; undefined: it is, and the message of the refusal names a file and a line. */
export function notRefusedReason(pipeline: Pipeline | undefined, bad: string): string | undefined {
  const { commit, verdict, message = '' } = pipeline?.status?.head ?? {};
  if (commit !== bad) return `the pipeline is at ${shortCommit(commit)}`;
  return verdict === 'Refused' && FILE_AND_LINE.test(message) ? undefined : `${verdict}: ${message}`;
}

const FILE_AND_LINE = /\S+\.ts:\d+/;

export function notRepairedReason(
  job: RemedyOperationJob | undefined,
  machine?: Pick<Machine, 'status'>,
): string | undefined {
  return job === undefined ? (remedyWaitReason(machine) ?? 'no repair job yet') : notSucceededReason(job);
}

function notSucceededReason({ metadata, status }: RemedyOperationJob): string | undefined {
  const { phase = 'Pending', outcome } = status ?? {};
  if (outcome?.class === 'Succeeded') return undefined;
  return `${metadata.name}: ${phase} ${outcome?.message ?? ''}`.trimEnd();
}

/** Tells for what a rule waits that found a fault on the machine and does not act; undefined: no rule waits. */
export function remedyWaitReason(machine: Pick<Machine, 'status'> | undefined): string | undefined {
  const [wait] = machine?.status?.remedyWaits ?? [];
  return wait && `rule ${wait.rule} waits: ${wait.message ?? wait.reason}`;
}

export function notBackInServiceReason(node: KubeObject, bootIdBefore: string): string | undefined {
  if (nodeBootId(node) === bootIdBefore) return `${node.metadata.name} has not booted again`;
  return isCordoned(node) ? `${node.metadata.name} is cordoned` : undefined;
}

export function nodeBootId(node: KubeObject): string {
  return textAt(node, 'status', 'nodeInfo', 'bootID') ?? '';
}

export function notReadyReason({ status }: Machine): string | undefined {
  const ready = conditionOf(status?.conditions, 'Ready');
  return ready?.status === 'True' ? undefined : `Ready=${ready?.status}: ${ready?.message}`;
}

/** Explains why the agent does not count as restarted; undefined: it reports a start at another time than `since`. */
export function restartedReason({ status }: Machine, since: string | undefined): string | undefined {
  const { startedAt } = status?.agent ?? {};
  return startedAt === undefined || startedAt === since ? 'the agent has not reported since' : undefined;
}

/** Explains why the hub does not hold this MachineComponent after it failed in these clusters. */
export function notHeldEverywhereReason(
  { status }: Pick<FleetPolicy, 'status'>,
  component: string,
  clusters: readonly string[],
): string | undefined {
  const causes = status?.causes ?? [];
  const held = causes.map(({ value }) => value).join(', ');
  const found = causes.find(({ dimension, value }) => dimension === 'componentUpdate' && value === component);
  if (!found) return `${component} is not held, but ${held || 'nothing'}`;
  const names = found.clusters.map(({ cluster }) => cluster);
  const missing = clusters.filter((name) => !names.includes(name));
  return missing.length === 0 ? undefined : `it has not failed in ${missing.join(', ')} yet`;
}

/** Explains why the first wave of the rule has not passed, in which it repairs one machine; undefined: it has. */
export function notPastFirstWaveReason(
  { spec }: Pick<DefenderLedger, 'spec'>,
  rule: string,
): string | undefined {
  const known = spec.rules?.[rule];
  if (!known) return `${rule} is not in the ledger`;
  if (known.wave > 1 || known.proven.length > 0) return undefined;
  const { succeeded, failed } = known;
  return `${rule} is in its first wave: ${succeeded} repairs verified, ${failed.length} failed`;
}

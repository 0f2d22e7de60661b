/**
 * Decides what the watchdog of an upgrade of the agent does next: start the new program, keep it once it has proved itself, or
 * return the old one. Each record is durable before the next action, and every action can be repeated. Pure.
 */
import type { TransitionFailure } from '../journal/record.ts';
import type { UpgradeProof } from './proof.ts';
import type { AgentProcess, AgentUpgrade } from './slots.ts';

export interface UpgradeInput {
  readonly bootId: string;
  /** The time since the machine booted. */
  readonly uptimeMs: number;
  /** The process of the agent. */
  readonly agent?: AgentProcess & { readonly residentBytes: number };
  /** The proof that the agent last wrote about itself. */
  readonly proof?: UpgradeProof;
}

export type UpgradeAction =
  | { readonly type: 'Stop'; readonly because: string }
  | { readonly type: 'Start'; readonly program: string; readonly because: string }
  | { readonly type: 'Record'; readonly upgrade: AgentUpgrade; readonly because: string }
  | { readonly type: 'Settle'; readonly result: 'Committed' | 'RolledBack'; readonly because: string };

/** The number of reboots from which on the new version is blamed: one reboot may have another cause. */
const MAX_BOOTS = 2;
/** The time after which an agent counts as silent: three reports of a loop that works. */
const SILENT_MS = 30_000;

/** Plans the next actions. When there are none, the watchdog waits for the new agent. */
export function planUpgrade(upgrade: AgentUpgrade, observation: UpgradeInput): readonly UpgradeAction[] {
  if (upgrade.step === 'Returning') return planReturning(upgrade);
  if (upgrade.step === 'Starting') return planStarting(upgrade, observation);
  return planReboot(upgrade, observation) ?? planProbation(upgrade, observation);
}

/** Plans the start of the new program. The one that runs is stopped first, so that no crash in between leaves two agents. */
function planStarting(upgrade: AgentUpgrade, { bootId }: UpgradeInput): readonly UpgradeAction[] {
  const because = `version ${upgrade.version} of the agent is started`;
  return [
    // A disk that is full is found before the old agent is stopped.
    { type: 'Record', upgrade, because },
    { type: 'Stop', because },
    { type: 'Start', program: upgrade.to, because },
    { type: 'Record', upgrade: withoutObservation({ ...upgrade, step: 'Probation', bootId }), because },
  ];
}

function planReturning({ from, failure }: AgentUpgrade): readonly UpgradeAction[] {
  const because = failure?.message ?? 'the new version failed';
  return [
    { type: 'Stop', because },
    { type: 'Start', program: from, because },
    { type: 'Settle', result: 'RolledBack', because },
  ];
}

function planReboot(upgrade: AgentUpgrade, { bootId }: UpgradeInput): readonly UpgradeAction[] | undefined {
  if (bootId === upgrade.bootId) return undefined;
  const boots = upgrade.boots + 1;
  if (boots >= MAX_BOOTS) {
    const message = `the machine rebooted ${boots} times before the version was kept`;
    return goBack(upgrade, { code: 'Rebooted', message });
  }
  const again = withoutObservation({ ...upgrade, step: 'Starting', bootId, boots });
  return [{ type: 'Record', upgrade: again, because: 'the machine rebooted: the version is started again' }];
}

function planProbation(upgrade: AgentUpgrade, observation: UpgradeInput): readonly UpgradeAction[] {
  const { observed, healthyAtMs } = upgrade;
  const { agent, uptimeMs } = observation;
  if (!observed) return [observe(upgrade, observation)];
  const failure = processFailure(upgrade, agent);
  if (failure) return goBack(upgrade, failure);
  const proof = proofOf(upgrade, observation);
  if (healthyAtMs === undefined) return awaitHealth(upgrade, { uptimeMs, proof });
  return hold(upgrade, { uptimeMs, proof, healthyAtMs });
}

function observe(upgrade: AgentUpgrade, { agent, uptimeMs }: UpgradeInput): UpgradeAction {
  const identity = agent && { pid: agent.pid, startId: agent.startId };
  const observed = { ...(identity && { agent: identity }), atMs: uptimeMs };
  return { type: 'Record', upgrade: { ...upgrade, observed }, because: 'its process is observed' };
}

function processFailure(
  { observed, limits, version }: AgentUpgrade,
  agent: UpgradeInput['agent'],
): TransitionFailure | undefined {
  if (!agent || agent.pid !== observed?.agent?.pid || agent.startId !== observed.agent.startId) {
    return { code: 'AgentCrashed', message: `the agent of version ${version} ended` };
  }
  const { residentBytes } = agent;
  if (residentBytes <= limits.maxResidentBytes) return undefined;
  const message = `the agent of version ${version} takes ${mebibytes(residentBytes)} MiB of memory, expected at most ${mebibytes(limits.maxResidentBytes)}`;
  return { code: 'AgentMemory', message };
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

/** Returns the proof, only of this attempt and of the process that runs now. */
function proofOf({ key }: AgentUpgrade, { agent, proof }: UpgradeInput): UpgradeProof | undefined {
  return proof?.key === key && proof.pid === agent?.pid ? proof : undefined;
}

interface Progress {
  readonly uptimeMs: number;
  readonly proof: UpgradeProof | undefined;
}

function awaitHealth(upgrade: AgentUpgrade, { uptimeMs, proof }: Progress): readonly UpgradeAction[] {
  if (proof && proof.missing.length === 0) {
    const because = 'it is connected, wrote its Lease and passed its self-test';
    return [{ type: 'Record', upgrade: { ...upgrade, healthyAtMs: uptimeMs }, because }];
  }
  const { healthySeconds } = upgrade.limits;
  if (uptimeMs - (upgrade.observed?.atMs ?? 0) < healthySeconds * 1000) return [];
  const missing = proof ? proof.missing.join('; ') : 'it reported nothing';
  const message = `the agent of version ${upgrade.version} is not healthy after ${healthySeconds} s: ${missing}`;
  return goBack(upgrade, { code: 'AgentUnhealthy', message });
}

function hold(
  upgrade: AgentUpgrade,
  { uptimeMs, proof, healthyAtMs }: Progress & { readonly healthyAtMs: number },
): readonly UpgradeAction[] {
  const { version, limits } = upgrade;
  if (uptimeMs - Math.max(proof?.atMs ?? 0, healthyAtMs) > SILENT_MS) {
    const message = `the loop of the agent of version ${version} stopped after it was healthy`;
    return goBack(upgrade, { code: 'AgentHung', message });
  }
  if (uptimeMs - healthyAtMs < limits.holdSeconds * 1000) return [];
  const because = `version ${version} of the agent is healthy since ${limits.holdSeconds} s`;
  return [{ type: 'Settle', result: 'Committed', because }];
}

/** Plans what follows when the new program could not even be started: the old one was stopped for it. */
export function planStartFailure(upgrade: AgentUpgrade, message: string): readonly UpgradeAction[] {
  return upgrade.step === 'Starting' ? goBack(upgrade, { code: 'AgentNotStarted', message }) : [];
}

function goBack(upgrade: AgentUpgrade, failure: TransitionFailure): readonly UpgradeAction[] {
  return [{ type: 'Record', upgrade: { ...upgrade, step: 'Returning', failure }, because: failure.message }];
}

function withoutObservation({
  observed: _observed,
  healthyAtMs: _healthyAtMs,
  ...upgrade
}: AgentUpgrade): AgentUpgrade {
  return upgrade;
}

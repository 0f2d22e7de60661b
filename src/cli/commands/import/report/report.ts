/** Judges all hosts of one call, each also beside the others. Pure. */
import type { HostKey } from '../../../../api/generated/types.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { CheckState, ServerAddress } from '../../../../providers/ssh/preflight/check.ts';
import { findDuplicate, type HostIdentity } from '../../../../providers/ssh/preflight/duplicates.ts';
import {
  type CheckResult,
  evaluatePreflight,
  hasState,
} from '../../../../providers/ssh/preflight/evaluate.ts';
import type { InspectedHost } from '../../../../providers/ssh/preflight/inspect.ts';
import { formatTarget } from '../../../../providers/ssh/target.ts';
import { hostLabel, type ListedHost } from '../hosts/host.ts';
import type { HostOutcome } from '../inspect-all.ts';

export interface HostReport {
  /** `user@address:port` */
  readonly host: string;
  /** The name of its Machine. */
  readonly name?: string;
  /** Error: the host could not be checked. */
  readonly state: Exclude<CheckState, 'Unknown'> | 'Error';
  readonly hostKeys: readonly HostKey[];
  /** Whether the keys were pinned before the call. Otherwise they are those that the host has shown. */
  readonly hostKeysPinned: boolean;
  readonly checks: readonly CheckResult[];
  readonly skippedChecks: readonly string[];
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

export interface JudgeOptions {
  readonly skipped: readonly string[];
  readonly server?: ServerAddress;
  readonly machines: readonly ClusterMachine[];
}

export interface ClusterMachine extends HostIdentity {
  /** An earlier call with --apply made it. */
  readonly isApplied?: boolean;
}

/** The checks that fail on a host because its import has begun. */
const BEGUN = ['Agent', 'Kubelet', 'ContainerRuntime', 'CNI', 'Ports'];

export function judgeHosts(outcomes: readonly HostOutcome[], options: JudgeOptions): readonly HostReport[] {
  const identities = outcomes.map((outcome) =>
    'inspected' in outcome ? identityOf(outcome.host, outcome.inspected) : undefined,
  );
  return outcomes.map((outcome, index) => {
    if ('error' in outcome) return failedReport(outcome, options);
    const own = identities[index];
    const applied = own && options.machines.find((machine) => isMachineOf(machine, outcome.host, own));
    const others = [...options.machines, ...identities].filter(
      (other): other is HostIdentity => other !== undefined && other !== own && other !== applied,
    );
    const skipped = applied ? [...new Set([...options.skipped, ...BEGUN])] : options.skipped;
    return checkedReport(outcome, own ? findDuplicate(own, others) : {}, { ...options, skipped });
  });
}

function isMachineOf(machine: ClusterMachine, { name }: ListedHost, own: HostIdentity): boolean {
  const { isApplied, hostName, address, port } = machine;
  return (
    isApplied === true && hostName === (name ?? own.hostName) && address === own.address && port === own.port
  );
}

function identityOf(host: ListedHost, { facts, hostKeys }: InspectedHost): HostIdentity {
  const { hostName, machineId, systemUuid } = facts;
  return {
    label: hostLabel(host),
    address: host.target.address,
    port: host.target.port,
    ...optional('hostName', hostName),
    ...optional('machineId', machineId),
    ...optional('systemUuid', systemUuid),
    hostKeys,
  };
}

function checkedReport(
  { host, inspected }: Extract<HostOutcome, { inspected: InspectedHost }>,
  duplicates: ReturnType<typeof findDuplicate>,
  { skipped, server }: JudgeOptions,
): HostReport {
  const { hostKeys, ...read } = inspected;
  const checks = evaluatePreflight({ ...read, ...duplicates, ...optional('server', server) }, skipped);
  return {
    host: formatTarget(host.target),
    ...optional('name', host.name ?? read.facts.hostName),
    state: stateOf(checks),
    hostKeys,
    hostKeysPinned: host.hostKeys !== undefined,
    checks,
    skippedChecks: skipped,
  };
}

/** A fact that is not known needs a person as a warning does. */
function stateOf(checks: readonly CheckResult[]): HostReport['state'] {
  if (hasState(checks, 'Fail')) return 'Fail';
  return hasState(checks, 'Warn') || hasState(checks, 'Unknown') ? 'Warn' : 'Pass';
}

function failedReport(
  { host, error }: Extract<HostOutcome, { error: unknown }>,
  { skipped }: JudgeOptions,
): HostReport {
  return {
    host: formatTarget(host.target),
    ...optional('name', host.name),
    state: 'Error',
    hostKeys: host.hostKeys ?? [],
    hostKeysPinned: host.hostKeys !== undefined,
    checks: [],
    skippedChecks: skipped,
    error: { code: error.code, message: error.message, ...optional('hint', error.hint) },
  };
}

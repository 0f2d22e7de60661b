/**
 * Counts the agents and kubelets of a hosted cluster by what the agents report. A report of another phase counts for nothing, and so does one that
 * is missing. Pure.
 */
import type { MachineAuthorities } from '../../../../api/generated/types.ts';
import { wholeSeconds } from '../../../../os/dates.ts';
import type { AgentClient, MachineClient } from '../../inside/clients.ts';
import type { HostingInput } from '../input.ts';
import { type ExpectedAuthorities, expectedAuthorities } from './expected.ts';
import type { Remedy } from './hints.ts';

/** An agent or a kubelet. */
export interface NodeClient {
  /** As `Machine m-1` for an agent, and `Node m-1` for a kubelet. */
  readonly name: string;
  /** Undefined: it uses the authorities of the phase. */
  readonly behind?: Behind;
}

export interface Behind {
  readonly because: string;
  readonly remedy: Remedy;
}

type Input = Pick<HostingInput, 'clients' | 'plane' | 'now'>;

/** Returns all agents and kubelets. A document of another phase is nothing that they could be compared with. */
export function nodeClients({ clients, plane, now }: Input): readonly NodeClient[] {
  if (!clients) return [];
  const nodes = new Set(clients.nodes);
  const expected = plane.rotation?.isSigned ? expectedAuthorities(plane.authorities) : undefined;
  const known = clients.machines.flatMap((machine) => {
    const agent = unsupportedAgent(machine, now) ?? agentReason(machine, expected);
    const kubelet = kubeletReason(machine, { nodes, agent });
    return [client('Machine', machine.name, agent), ...kubelet];
  });
  return [...known, ...nodesWithoutMachine(clients)];
}

/** Returns those that can never follow a rotation, each with its reason. */
export function unsupportedClients({
  clients,
  now,
}: Pick<HostingInput, 'clients' | 'now'>): readonly Required<NodeClient>[] {
  if (!clients) return [];
  const nodes = new Set(clients.nodes);
  const found = clients.machines.map((machine): NodeClient => {
    const agent = unsupportedAgent(machine, now);
    const kubelet = machine.agent?.authorities && unsupportedKubelet(machine, nodes);
    return agent ? client('Machine', machine.name, agent) : client('Node', machine.name, kubelet);
  });
  return [...found, ...nodesWithoutMachine(clients)].filter(
    (each): each is Required<NodeClient> => each.behind !== undefined,
  );
}

function nodesWithoutMachine({
  nodes,
  machines,
}: NonNullable<HostingInput['clients']>): readonly NodeClient[] {
  const names = new Set(machines.map(({ name }) => name));
  return nodes.filter((name) => !names.has(name)).map((name) => client('Node', name, NO_MACHINE));
}

function never(because: string): Behind {
  return { because, remedy: 'Replace' };
}

function later(because: string): Behind {
  return { because, remedy: 'Wait' };
}

const NO_MACHINE = never('it has no Machine');
const OTHER_KEEPER = never('another program keeps the certificate of its agent');
const SYSTEM_AUTHORITIES = never('its agent trusts the authorities of its system');
const OTHER_KUBELET = never('its kubelet is not a component with identity Kubelet');
const FOREIGN_KUBELET = never('its kubelet does not use the files of its agent');

function client(kind: 'Machine' | 'Node', name: string, behind: Behind | undefined): NodeClient {
  const named = { name: `${kind} ${name}` };
  return behind === undefined ? named : { ...named, behind };
}

/** An agent reads its authorities within this time of its start. */
const FIRST_READ_MS = 180_000;

function unsupportedAgent({ agent }: MachineClient, now: Date): Behind | undefined {
  if (!agent) return undefined;
  const { authorities, startedAt, version = 'unknown' } = agent;
  if (authorities) {
    if (!authorities.managed) return OTHER_KEEPER;
    return authorities.trusted.length === 0 ? SYSTEM_AUTHORITIES : undefined;
  }
  const isStarting = startedAt && Math.abs(now.getTime() - startedAt.getTime()) < FIRST_READ_MS;
  return isStarting ? undefined : never(`its agent of version ${version} reports no authorities`);
}

function agentReason(machine: MachineClient, expected: ExpectedAuthorities | undefined): Behind | undefined {
  const { agent } = machine;
  if (!agent) return { because: 'its agent has not joined', remedy: 'Join' };
  if (!expected) return later('nothing is published yet');
  const behind = reportReason(agent, expected);
  return behind && (silence(machine, behind) ?? behind);
}

const NOT_FOLLOWED = 'it has not followed this phase yet';

function reportReason({ authorities }: AgentClient, expected: ExpectedAuthorities): Behind | undefined {
  if (!authorities) return later('its agent has not read its authorities yet');
  const { rotation, order, problem, issuer, trusted } = authorities;
  if (problem !== undefined) return { because: problem, remedy: 'Correct' };
  if (rotation !== expected.rotation || order !== expected.order) return later(NOT_FOLLOWED);
  const isTrusting =
    trusted.length === expected.trusted.length && expected.trusted.every((each) => trusted.includes(each));
  if (!isTrusting) return later('it trusts other authorities');
  return issuer === expected.issuer ? undefined : later('its certificate is of another authority');
}

/** An agent without a sign of life reports nothing new. What it reported last is not hidden by that. */
function silence({ heartbeat, heardAt }: MachineClient, { because }: Behind): Behind | undefined {
  if (heartbeat !== 'Silent' && heartbeat !== 'Never') return undefined;
  const since = heardAt ? ` since ${wholeSeconds(heardAt)}` : '';
  const silent =
    heartbeat === 'Never' ? 'its agent has never renewed its Lease' : `its agent is silent${since}`;
  return {
    because: because === NOT_FOLLOWED ? silent : `${silent}, and before: ${because}`,
    remedy: 'Return',
  };
}

interface KubeletParts {
  readonly nodes: ReadonlySet<string>;
  readonly agent: Behind | undefined;
}

/** The report of an agent that is behind is not about this phase, and that of its kubelet neither. */
function kubeletReason(machine: MachineClient, { nodes, agent }: KubeletParts): readonly NodeClient[] {
  const { name } = machine;
  const kubelet = machine.agent?.authorities?.kubelet ?? 'None';
  if (kubelet === 'None' && !nodes.has(name)) return [];
  return [client('Node', name, agent ?? unsupportedKubelet(machine, nodes) ?? KUBELET_REASONS[kubelet])];
}

/** A state that a later agent reports is unknown here, and is not taken for one that has moved. */
function unsupportedKubelet({ name, agent }: MachineClient, nodes: ReadonlySet<string>): Behind | undefined {
  const kubelet: string = agent?.authorities?.kubelet ?? 'None';
  if (kubelet === 'None') return nodes.has(name) ? OTHER_KUBELET : undefined;
  if (kubelet === 'Foreign') return FOREIGN_KUBELET;
  return kubelet in KUBELET_REASONS ? undefined : never(`its kubelet is in the unknown state ${kubelet}`);
}

type KubeletState = MachineAuthorities['kubelet'];

const KUBELET_REASONS: Readonly<Partial<Record<KubeletState, Behind | undefined>>> = {
  RestartPending: { because: 'its kubelet was not restarted with them yet', remedy: 'Grant' },
  CertificatePending: later('its kubelet gets another certificate'),
  Current: undefined,
};

/** The members of a control plane as processes: how each is started, recognized and asked. */
import { join } from 'node:path';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Layout } from '../../../../local/layout.ts';
import { readTrusted } from '../../../../local/pki/authority.ts';
import { parsePair } from '../../../../local/pki/inspect.ts';
import type { ProgramPath } from '../../../../local/processes/commands.ts';
import { sendProbe } from '../../../../local/processes/probe.ts';
import {
  createProcessSpecs,
  matchesSpec,
  outsideUrl,
  type ProcessSpec,
} from '../../../../local/processes/specs.ts';
import type { FleetState } from '../../../../local/state.ts';
import { readFileIfExists } from '../../../../os/files.ts';
import type { Command } from '../../../../os/process/child.ts';
import type { ProcessIdentity } from '../../../../os/process/identity.ts';
import { API_SERVERS, ETCD_MEMBERS, isApiServer, MEMBERS, RUN_MEMBERS, type RunMember } from '../driver.ts';
import { type MemberRuns, settingsWith } from '../runs.ts';
import { type BalancerCommand, balancerMembers } from './api-servers/balancers.ts';
import { apiServerOf } from './api-servers/identity.ts';
import { gatewayMembers } from './exposure/gateways.ts';
import { type MemberAnswer, type MemberSpec, probeHealth } from './member-spec.ts';
import { findProgram, type Programs } from './programs.ts';
import { memberProgram } from './running.ts';

export interface MemberParts {
  readonly state: FleetState;
  readonly layout: Layout;
  /** The versions and flags that the members are started with. */
  readonly runs: MemberRuns;
  readonly programs: readonly Programs[];
  readonly controllersPort: number;
  readonly controllers: ControllersCommand;
  readonly balancer: BalancerCommand;
}

/** Returns the command of our own controllers, with a kubeconfig of that cluster only. */
export type ControllersCommand = (options: {
  readonly cluster: string;
  /** The folder of the control plane. */
  readonly root: string;
  readonly kubeconfig: string;
  readonly port: number;
  /** The API server as hosts on other machines reach it. Undefined: they do not. */
  readonly serverForHosts?: string | undefined;
}) => Command;

export function memberSpecs(cluster: string, parts: MemberParts): readonly MemberSpec[] {
  const { runs } = parts;
  // While a change goes from one of several members to the next, each has a version and flags of its own.
  const several = (members: readonly RunMember[]): readonly ProcessSpec[] =>
    members.flatMap((member) => {
      const own = { ...runs, [memberProgram(member)]: runs[member] };
      return processesOf(parts, own).filter((spec) => memberOf(spec) === member);
    });
  const others = processesOf(parts, runs).filter(
    ({ program }) => program !== 'etcd' && program !== 'kube-apiserver',
  );
  const toMembers = (specs: readonly ProcessSpec[]): readonly MemberSpec[] =>
    specs.flatMap((spec) => processMember(spec, parts));
  return [
    ...toMembers(several(ETCD_MEMBERS)),
    // Clients wait for them when they take the port of the API server that was the only one.
    ...balancerMembers(parts),
    ...toMembers(several(API_SERVERS)),
    ...toMembers(others),
    controllersMember(cluster, parts),
    // One whose port is taken keeps no other member from its start.
    ...gatewayMembers(parts),
  ];
}

function memberOf({ id, cluster }: ProcessSpec): RunMember | undefined {
  const name = cluster === undefined ? id : id.slice(`${cluster}/`.length);
  return RUN_MEMBERS.find((each) => each === name);
}

function processesOf({ state, layout, programs }: MemberParts, runs: MemberRuns): readonly ProcessSpec[] {
  return createProcessSpecs(stateWith(state, runs), layout, programPath(programs, runs));
}

/** The path of a program that is missing does not matter to recognize its process. */
function programPath(programs: readonly Programs[], runs: MemberRuns): ProgramPath {
  return (name) => {
    const member = RUN_MEMBERS.find((each) => each === name);
    if (!member) return name;
    const { version } = runs[member];
    const isUnknown = version === undefined;
    // The first start of etcd records which it is.
    const found = isUnknown
      ? findProgram(programs, 'kube-apiserver', runs['kube-apiserver'].version)
      : findProgram(programs, member, version);
    return found?.path(name) ?? name;
  };
}

function stateWith(state: FleetState, runs: MemberRuns): FleetState {
  const clusters = state.clusters.map(({ plane, ...cluster }) =>
    plane ? { ...cluster, plane: settingsWith(plane, runs) } : cluster,
  );
  return { ...state, clusters };
}

function processMember(spec: ProcessSpec, { layout, state }: MemberParts): readonly MemberSpec[] {
  const { command, port, logFile, cluster } = spec;
  const isEtcd = cluster === undefined;
  const member = memberOf(spec);
  if (member === undefined) return [];
  const folder = isEtcd ? layout.etcd.pkiFolder : layout.cluster(cluster).pkiFolder;
  const certificateFile = join(folder, isEtcd ? 'etcd.pem' : 'apiserver.pem');
  const shared = { member, command, port, logFile, certificateFile, secureUrl: spec.readyUrl };
  const client = isEtcd ? 'client.pem' : 'admin.pem';
  const probe = (): Promise<MemberAnswer> => probeProcess(spec.readyUrl, folder, client);
  const matches = (found: readonly string[]): boolean => matchesSpec(found, spec);
  const servers = state.clusters.find(({ name }) => name === cluster)?.apiServers;
  if (!servers || !isApiServer(member)) return [{ ...shared, matches, probe }];
  return [
    { ...shared, ...apiServerOf(member, spec, { servers, ask: (url) => probeProcess(url, folder, client) }) },
  ];
}

async function probeProcess(url: string, folder: string, file: string): Promise<MemberAnswer> {
  const caPem = await readTrusted(folder);
  const client = parsePair(await readFileIfExists(join(folder, file)));
  if (caPem === undefined || !client) return { isReady: false };
  const answer = await sendProbe({ url, caPem, client }).catch(() => undefined);
  return { isReady: answer?.status === 200, certificate: answer?.certificate };
}

function controllersMember(
  cluster: string,
  { state, layout, controllers, controllersPort: port }: MemberParts,
): MemberSpec {
  const exposed = state.clusters.find(({ exposure }) => exposure);
  const serverForHosts = exposed && outsideUrl(exposed);
  const kubeconfig = layout.cluster(cluster).controllersKubeconfig;
  const mark = `--kubeconfig=${kubeconfig}`;
  return {
    member: 'kubenode-controllers',
    command: controllers({
      cluster,
      root: layout.root,
      kubeconfig,
      port,
      ...optional('serverForHosts', serverForHosts),
    }),
    port,
    logFile: `${layout.logs}/kubenode-controllers.log`,
    matches: (found) => found.includes('controllers') && found.includes(mark),
    probe: () => probeHealth(port),
  };
}

/** Returns the process that is the member. Of several the oldest holds the port and the data. */
export function findMember(
  { matches }: Pick<MemberSpec, 'matches'>,
  processes: readonly ProcessIdentity[],
): ProcessIdentity | undefined {
  const found = processes.filter(({ command }) => matches(command));
  return found.toSorted((a, b) => Number(BigInt(a.startTicks) - BigInt(b.startTicks)))[0];
}

/** The programs of members. Our own controllers run by node, or as a program of their own. */
export const MEMBER_PROGRAMS = [...MEMBERS, 'node', 'kubenode'];

/** The members of a control plane as processes: how each is started, recognized and asked. */
import { join } from 'node:path';
import type { Layout } from '../../../../local/layout.ts';
import { readTrusted } from '../../../../local/pki/authority.ts';
import { parsePair } from '../../../../local/pki/inspect.ts';
import { LOOPBACK, type ProgramPath } from '../../../../local/processes/commands.ts';
import { type ServedCertificate, sendProbe } from '../../../../local/processes/probe.ts';
import { createProcessSpecs, matchesSpec, type ProcessSpec } from '../../../../local/processes/specs.ts';
import type { FleetState } from '../../../../local/state.ts';
import { readFileIfExists } from '../../../../os/files.ts';
import { httpGet } from '../../../../os/net/http-get.ts';
import type { Command } from '../../../../os/process/child.ts';
import type { ProcessIdentity } from '../../../../os/process/identity.ts';
import { ETCD_MEMBERS, MEMBERS, type PlaneMember, RUN_MEMBERS } from '../driver.ts';
import { type MemberRuns, settingsWith } from '../runs.ts';
import { findProgram, type Programs } from './programs.ts';

export interface MemberSpec {
  readonly member: PlaneMember;
  readonly command: Command;
  readonly port: number;
  readonly logFile: string;
  /** Whether this command line is the member, possibly with other settings. */
  readonly matches: (command: readonly string[]) => boolean;
  readonly probe: () => Promise<MemberAnswer>;
  /** The file with the certificate that it serves; undefined: it serves none. */
  readonly certificateFile?: string;
  /** Where it answers clients with a certificate. Undefined: nowhere. */
  readonly secureUrl?: string;
}

export interface MemberAnswer {
  readonly isReady: boolean;
  readonly certificate?: ServedCertificate | undefined;
}

export interface MemberParts {
  readonly state: FleetState;
  readonly layout: Layout;
  /** The versions and flags that the members are started with. */
  readonly runs: MemberRuns;
  readonly programs: readonly Programs[];
  readonly controllersPort: number;
  readonly controllers: ControllersCommand;
}

/** Returns the command of our own controllers, with a kubeconfig of that cluster only. */
export type ControllersCommand = (options: {
  readonly cluster: string;
  /** The folder of the control plane. */
  readonly root: string;
  readonly kubeconfig: string;
  readonly port: number;
}) => Command;

export function memberSpecs(cluster: string, parts: MemberParts): readonly MemberSpec[] {
  const { runs } = parts;
  // While a change goes from one member of etcd to the next, each has a version and flags of its own.
  const etcd = ETCD_MEMBERS.flatMap((member) =>
    processesOf(parts, { ...runs, etcd: runs[member] }).filter(({ id }) => id === member),
  );
  const others = processesOf(parts, runs).filter((spec) => spec.cluster !== undefined);
  return [
    ...[...etcd, ...others].flatMap((spec) => processMember(spec, parts)),
    controllersMember(cluster, parts),
  ];
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

function processMember(spec: ProcessSpec, { layout }: MemberParts): readonly MemberSpec[] {
  const { id, program, command, port, logFile, cluster } = spec;
  const isEtcd = cluster === undefined;
  const member = RUN_MEMBERS.find((name) => name === (isEtcd ? id : program));
  if (member === undefined) return [];
  const folder = isEtcd ? layout.etcd.pkiFolder : layout.cluster(cluster).pkiFolder;
  const certificateFile = join(folder, isEtcd ? 'etcd.pem' : 'apiserver.pem');
  const shared = { member, command, port, logFile, certificateFile, secureUrl: spec.readyUrl };
  const client = isEtcd ? 'client.pem' : 'admin.pem';
  const probe = (): Promise<MemberAnswer> => probeProcess(spec.readyUrl, folder, client);
  return [{ ...shared, matches: (found) => matchesSpec(found, spec), probe }];
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
  { layout, controllers, controllersPort: port }: MemberParts,
): MemberSpec {
  const kubeconfig = layout.cluster(cluster).controllersKubeconfig;
  const mark = `--kubeconfig=${kubeconfig}`;
  return {
    member: 'kubenode-controllers',
    command: controllers({ cluster, root: layout.root, kubeconfig, port }),
    port,
    logFile: `${layout.logs}/kubenode-controllers.log`,
    matches: (found) => found.includes('controllers') && found.includes(mark),
    probe: async () => {
      const url = `http://${LOOPBACK}:${port}/readyz`;
      const answer = await httpGet(url, AbortSignal.timeout(PROBE_MS)).catch(() => undefined);
      return { isReady: answer?.status === 200 };
    },
  };
}

const PROBE_MS = 5000;

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

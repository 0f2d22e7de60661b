/** Carries out the steps of a release. Each looks for what is left of it first. */
import { basename, dirname } from 'node:path/posix';
import { HostError } from '../host/errors.ts';
import type { Host, HostFiles, UnitDefinition, UnitStatus } from '../host/port.ts';
import { identityFiles } from '../identity/store.ts';
import { executeOperation } from '../install/execute.ts';
import { observeComponent } from '../install/observe.ts';
import { OWN_UNIT, ownUnit } from '../install/own-unit.ts';
import {
  AGENT_PKI,
  AGENT_PROGRAM_LINK,
  AUTHORITIES_FILE,
  backupDirectory,
  CLUSTER_FILE,
  componentDirectory,
  DATA_DIRECTORY,
  DESIRED_FILE,
  dataDirectory,
  IMPORT_FILE,
  INSTALL_ROOT,
  PROGRAM_DIRECTORY,
  RELEASE_FILE,
  STATE_ROOT,
  STATUS_FILE,
} from '../layout.ts';
import { endHandOver } from '../upgrade/hand-over.ts';
import type { HostCleanup, ImportRecord } from './record.ts';
import { removeRegistries } from './registries.ts';
import {
  type HostReleaseStep,
  type InstalledComponent,
  planTraces,
  removalOperations,
} from './release-plan.ts';

export interface ReleasedHost {
  readonly host: Host;
  readonly record: ImportRecord | undefined;
  readonly cleanup: HostCleanup;
  readonly components: readonly InstalledComponent[];
}

/** The files that name the Machine, and what its agent reaches the API server with. Components use none of them. */
const FILES_OF_MACHINE = [
  DESIRED_FILE,
  STATUS_FILE,
  CLUSTER_FILE,
  AUTHORITIES_FILE,
  identityFiles(AGENT_PKI).certificate,
  identityFiles(AGENT_PKI).pendingKey,
  AGENT_PROGRAM_LINK,
];

type ReleaseAct = (released: ReleasedHost, component: string) => Promise<readonly string[] | undefined>;

const STEPS: Readonly<Record<HostReleaseStep['type'], ReleaseAct>> = {
  EndUpgrade: ({ host }) => nothingLeft(endHandOver(host)),
  StopAgent: (released) => nothingLeft(stopAgent(released)),
  RemoveComponent: removeComponent,
  RemoveTraces: removeTraces,
  RemoveVersions: ({ host }, component) => nothingLeft(host.files.remove(componentDirectory(component))),
  RemoveData: ({ host }, component) => nothingLeft(host.files.remove(dataDirectory(component))),
  RemoveUnit: removeAgentUnit,
  RemoveCredentials: ({ host, record }) => removeRegistries(host.files, record),
  ForgetMachine: ({ host }) => nothingLeft(removeAll(host.files, FILES_OF_MACHINE)),
  RemoveState: removeState,
  RemoveProgram: (released) => nothingLeft(removeProgram(released)),
};

/** Returns what the step leaves on the host. Throws when it cannot be done. */
export async function carryOutRelease(
  released: ReleasedHost,
  step: HostReleaseStep,
): Promise<readonly string[]> {
  return (await STEPS[step.type](released, 'component' in step ? step.component : '')) ?? [];
}

async function nothingLeft(done: Promise<void>): Promise<undefined> {
  await done;
}

/** It must not start again at the next boot either: that would install everything once more. */
async function stopAgent({ host, record }: ReleasedHost): Promise<void> {
  const { units, capabilities } = host;
  if (!capabilities.systemdUnits) return;
  const status = await units.status(ownUnit(record?.unit ?? UNKNOWN_UNIT));
  if (!status) return;
  await units.stop(OWN_UNIT);
  await units.setEnabled(OWN_UNIT, false);
}

/** Stands for a unit that somebody wrote by hand: only its name is used. */
const UNKNOWN_UNIT = { machine: 'unknown', program: AGENT_PROGRAM_LINK, port: 0 };

async function removeAgentUnit({ host, record }: ReleasedHost): Promise<readonly string[]> {
  const { units, capabilities } = host;
  if (!capabilities.systemdUnits) return [];
  const unit = ownUnit(record?.unit ?? UNKNOWN_UNIT);
  if (!(await units.status(unit))) return [];
  if (!record) return [`${OWN_UNIT}.service: it was not written by kubenode-agent install`];
  await units.remove(unit);
  if (!(await units.status(unit))) return [];
  // A unit of the same name that was there before: its agent has no state and no Machine any more.
  await units.stop(OWN_UNIT);
  await units.setEnabled(OWN_UNIT, false);
  return [];
}

async function removeComponent(
  { host, components }: ReleasedHost,
  component: string,
): Promise<readonly string[]> {
  const found = components.find((each) => each.component === component);
  const others = components.filter((each) => each !== found);
  const running = await runningUnits(host, others);
  for (const target of found?.targets ?? []) {
    const observed = await observeComponent(host, component, { targets: [target], digest: NO_DIGEST });
    for (const operation of removalOperations(target, observed)) await executeOperation(host, operation);
  }
  await startStopped(host, running);
  return found?.damaged === true
    ? [`${backupDirectory(component)}: a stored version of ${component} cannot be read`]
    : [];
}

/** A unit of the host that requires one of a component stopped with it. */
async function startStopped({ units }: Host, running: readonly UnitDefinition[]): Promise<void> {
  for (const unit of running) {
    const status = await units.status(unit);
    // One that does not end well when it is stopped is Failed.
    if (status && !RUNNING.includes(status.active)) await units.start(unit.name);
  }
}

/** Activating: also between two tries, as a kubelet is that was just given back. */
const RUNNING: readonly UnitStatus['active'][] = ['Active', 'Activating'];

async function runningUnits(
  { units }: Host,
  components: readonly InstalledComponent[],
): Promise<readonly UnitDefinition[]> {
  const running = new Map<string, UnitDefinition>();
  for (const unit of components.flatMap(({ targets }) => targets.flatMap((target) => target.units))) {
    const status = await units.status(unit);
    if (status && RUNNING.includes(status.active)) running.set(unit.name, unit);
  }
  return [...running.values()];
}

async function removeTraces(
  { host, record, components }: ReleasedHost,
  component: string,
): Promise<readonly string[]> {
  const found = components.find((each) => each.component === component);
  const traces = planTraces({ targets: found?.targets ?? [] }, record?.before);
  for (const path of traces.directories) {
    await host.processes.freeDirectory(path);
    await host.files.remove(path);
  }
  for (const path of traces.interfaces) await removeInterface(host, path);
  const left: string[] = [];
  for (const path of traces.unknown) {
    if (!(await host.files.stat(path))) continue;
    left.push(`${path}: it is not known whether it was there before the agent`);
  }
  return left;
}

const LINK_LIMITS = { timeoutMs: 10_000, maxOutputBytes: 1024 };

/** The interfaces of pods are away with the network namespaces of their containers; those of the host stay until somebody removes them. */
async function removeInterface({ files, processes }: Host, path: string): Promise<void> {
  if (!(await files.stat(path))) return;
  const name = basename(path);
  const { exitCode, output } = await processes.run(['ip', 'link', 'delete', 'dev', name], LINK_LIMITS);
  if (exitCode === 0 || !(await files.stat(path))) return;
  throw new HostError('NotStopped', `network interface ${name} cannot be removed: ${output.trim()}`, {
    where: path,
  });
}

/** Programs have hundreds of megabytes, and a removal does not compare them. */
const NO_DIGEST = async (): Promise<undefined> => undefined;

/** Removes the state of the agent but for the records: without them a repeat would not know what was there before. */
async function removeState({ host, components, cleanup }: ReleasedHost): Promise<readonly string[]> {
  const { files } = host;
  const kept = [
    ...(cleanup === 'Restore' ? await filledDirectories(files, DATA_DIRECTORY) : []),
    ...components.filter(({ damaged }) => damaged).map(({ component }) => backupDirectory(component)),
  ];
  await removeExcept(files, STATE_ROOT, [...kept, IMPORT_FILE, RELEASE_FILE]);
  await removeIfEmpty(files, INSTALL_ROOT);
  return kept
    .filter((path) => path.startsWith(DATA_DIRECTORY))
    .map((path) => `${path}: data of a component, which Wipe removes`);
}

async function filledDirectories(files: HostFiles, root: string): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const name of await files.list(root)) {
    const path = `${root}/${name}`;
    if ((await files.list(path)).length > 0) filled.push(path);
  }
  return filled;
}

/** Removes what is in a directory but for some paths, and leaves the directories above those. */
async function removeExcept(files: HostFiles, directory: string, kept: readonly string[]): Promise<void> {
  for (const name of await files.list(directory)) {
    const path = `${directory}/${name}`;
    if (kept.includes(path)) continue;
    if (kept.some((each) => each.startsWith(`${path}/`))) await removeExcept(files, path, kept);
    else await files.remove(path);
  }
}

async function removeAll(files: HostFiles, paths: readonly string[]): Promise<void> {
  for (const path of paths) await files.remove(path);
}

async function removeIfEmpty(files: HostFiles, directory: string): Promise<void> {
  if ((await files.stat(directory))?.type !== 'Directory') return;
  if ((await files.list(directory)).length === 0) await files.remove(directory);
}

/** Removes the program, and then the records: nothing else is left. This process runs on, its file is freed when it ends. */
async function removeProgram({ host: { files }, record }: ReleasedHost): Promise<void> {
  if (record && !record.keepsProgram) await files.remove(PROGRAM_DIRECTORY);
  const created = record?.created ?? [];
  for (const directory of created.toSorted((a, b) => b.length - a.length)) {
    await removeIfEmpty(files, directory);
  }
  await removeIfEmpty(files, dirname(AGENT_PROGRAM_LINK));
  await removeAll(files, [IMPORT_FILE, RELEASE_FILE]);
  await removeIfEmpty(files, STATE_ROOT);
}

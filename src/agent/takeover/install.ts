/** Installs the agent on a host: the record, the program, the link to it and the unit. It may be killed at any line, and repeated. */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path/posix';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { sha256OfFile } from '../../os/files.ts';
import type { Host, HostFiles } from '../host/port.ts';
import { WANTS_DIRECTORY } from '../host/systemd/unit-files.ts';
import { createIdentityStore, identityFiles } from '../identity/store.ts';
import { type AgentUnitOptions, OWN_UNIT, ownUnit } from '../install/own-unit.ts';
import {
  AGENT_PKI,
  AGENT_PROGRAM_LINK,
  INTERFACES,
  PROGRAM_DIRECTORY,
  REGISTRIES_FILE,
  STATE_PARENTS,
} from '../layout.ts';
import { requireHostFor } from './host-owner.ts';
import { type InstallAction, type InstallObservation, planInstall } from './install-plan.ts';
import { type MachineOwner, readImportRecord, writeImportRecord } from './record.ts';

/** Describes the running program, which places itself on the host. */
export interface OwnProgram {
  readonly version: string;
  /** The file of the program on this machine. */
  readonly file: string;
  /** Node.js, unless it is inside the program. */
  readonly node?: string;
}

export interface AgentInstallOptions {
  readonly owner: MachineOwner;
  readonly program: OwnProgram;
  /** The path of a program that somebody else placed and keeps, such as a package. */
  readonly keptProgram?: string;
  readonly bootstrap?: string;
  readonly port: number;
  readonly clock: Pick<Clock, 'now'>;
}

export interface InstalledAgent {
  readonly version: string;
  readonly sha256: string;
  /** The unit. It is missing on a host without systemd. */
  readonly unit?: string;
}

/** The directories of others in which `install`, `accept` or systemd may place the first entry. */
const DIRECTORIES = [dirname(PROGRAM_DIRECTORY), '/opt', WANTS_DIRECTORY, dirname(REGISTRIES_FILE)];
const EXECUTABLE = { mode: '0755', owner: 'root:root' };

export async function installAgent(host: Host, options: AgentInstallOptions): Promise<InstalledAgent> {
  const { owner, program, clock } = options;
  const { files, capabilities } = host;
  await requireHostFor(files, owner);
  const sha256 = await sha256OfFile(program.file);
  const unit = capabilities.systemdUnits ? unitOptions(options) : undefined;
  const actions = planInstall({
    owner,
    version: program.version,
    ...optional('unit', unit),
    keepsProgram: options.keptProgram !== undefined,
    observed: await observe(host, unit, { sha256, bootstrap: options.bootstrap }),
    now: clock.now(),
  });
  for (const action of actions) await carryOut(host, program, action);
  return { version: program.version, sha256, ...(unit && { unit: `${OWN_UNIT}.service` }) };
}

function unitOptions({
  owner,
  program,
  keptProgram,
  bootstrap,
  port,
}: AgentInstallOptions): AgentUnitOptions {
  const name = program.node === undefined ? 'kubenode-agent' : 'agent.mjs';
  return {
    machine: owner.machine,
    program: keptProgram ?? `${PROGRAM_DIRECTORY}/${name}`,
    port,
    ...optional('node', program.node),
    ...optional('bootstrap', bootstrap),
  };
}

async function observe(
  host: Host,
  unit: AgentUnitOptions | undefined,
  { sha256, bootstrap }: { readonly sha256: string; readonly bootstrap: string | undefined },
): Promise<InstallObservation> {
  const { files, units } = host;
  const store = createIdentityStore(files, identityFiles(AGENT_PKI));
  return {
    ...optional('record', await readImportRecord(files)),
    missing: await missingOf(files, DIRECTORIES),
    present: await presentIn(files, [...STATE_PARENTS, INTERFACES]),
    hasProgram: unit !== undefined && (await files.digest(unit.program)) === sha256,
    ...optional('linked', await linkedProgram(files)),
    ...optional('unitStatus', unit && (await units.status(ownUnit(unit)))),
    canConnect: bootstrap !== undefined || (await store.held()) !== undefined,
  };
}

async function missingOf(files: HostFiles, paths: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const path of paths) if (!(await files.stat(path))) missing.push(path);
  return missing;
}

async function presentIn(files: HostFiles, parents: readonly string[]): Promise<readonly string[]> {
  const names = await Promise.all(
    parents.map(async (parent) => (await files.list(parent)).map((name) => `${parent}/${name}`)),
  );
  return names.flat().toSorted(byCode);
}

async function linkedProgram(files: HostFiles): Promise<string | undefined> {
  const target = (await files.stat(AGENT_PROGRAM_LINK))?.target;
  return target !== undefined && (await files.stat(target)) ? target : undefined;
}

async function carryOut({ files, units }: Host, program: OwnProgram, action: InstallAction): Promise<void> {
  switch (action.type) {
    case 'WriteRecord':
      return await writeImportRecord(files, action.record);
    case 'CopyProgram':
      return await files.copy(await realpath(program.file), action.to, EXECUTABLE);
    case 'LinkProgram':
      return await files.link(AGENT_PROGRAM_LINK, action.to);
    case 'WriteUnit':
      return await units.write(ownUnit(action.unit));
    case 'EnableUnit':
      return await units.setEnabled(OWN_UNIT, true);
    case 'StopUnit':
      return await units.stop(OWN_UNIT);
    case 'StartUnit':
      return await units.start(OWN_UNIT);
    default:
      return action satisfies never;
  }
}

/** One host of an import, over one connection: what the machine controller asks of it. */
import type { MachineDeletion } from '../../../api/generated/types.ts';
import { isRecord, listAt, textAt } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type {
  CertificateRequestOptions,
  DeliveredAccess,
  ImportTarget,
  InstalledProgram,
  ReleaseReport,
} from './contract.ts';
import { ImportError } from './errors.ts';
import type { HostProgramFacts } from './lookup.ts';
import { lookUp, placeProgram } from './place-program.ts';
import { readPrograms } from './programs.ts';
import { ACCEPT, FORGET, INSTALL, RELEASE, REQUEST } from './scripts.ts';
import { agentCommandError, type ImportSession } from './session.ts';

export type HostIdentityOfMachine = Pick<ImportTarget, 'machine' | 'machineUid'>;

export async function installAgentOn(
  session: ImportSession,
  { machine, machineUid }: HostIdentityOfMachine,
  folder: string,
): Promise<InstalledProgram> {
  const { where, limits } = session;
  const programs = await readPrograms(folder);
  const facts = await lookUp(session, machineUid, programs);
  if (facts.owner === 'Other') throw hostInUse(facts, where);
  const program = await placeProgram(session, facts, { folder, programs });
  const output = await session.command({
    script: INSTALL,
    values: [program, machine],
    input: jsonInput({ machineUid }),
    timeoutMs: limits.commandMs,
  });
  const installed = parseAnswer(output);
  const version = textAt(installed, 'version');
  const sha256 = textAt(installed, 'sha256');
  if (version !== undefined && sha256 !== undefined) return { version, sha256 };
  throw badAnswer('install', where);
}

function hostInUse({ ownerName }: HostProgramFacts, where: string): ImportError {
  const owner = ownerName === undefined ? 'another Machine' : `another Machine, ${ownerName}`;
  return new ImportError('HostInUse', `the host belongs to ${owner}`, { where });
}

const PEM = /-----BEGIN CERTIFICATE REQUEST-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE REQUEST-----\n?/;

export async function requestCertificateOn(
  session: ImportSession,
  { machine }: HostIdentityOfMachine,
  { renew = false }: CertificateRequestOptions,
): Promise<string> {
  const { where, limits } = session;
  const values = [machine, renew ? '--renew' : ''];
  const output = await session.command({ script: REQUEST, values, timeoutMs: limits.commandMs });
  const pem = PEM.exec(output)?.[0];
  if (pem !== undefined) return pem;
  throw badAnswer('request', where);
}

export async function deliverTo(
  { command, limits }: ImportSession,
  { machine, secret: { registries } }: Pick<ImportTarget, 'machine' | 'secret'>,
  { certificatePem, server, ca }: DeliveredAccess,
): Promise<void> {
  const access = { certificatePem, server, ...optional('ca', ca), ...optional('registries', registries) };
  const input = jsonInput(access);
  await command({ script: ACCEPT, values: [machine], input, timeoutMs: limits.commandMs });
}

/** A host that another Machine took over, or that was never installed, has nothing of this Machine but copies of the program. */
export async function releaseOverSsh(
  session: ImportSession,
  { machineUid, folder }: Pick<ImportTarget, 'machineUid'> & { readonly folder: string },
  cleanup: MachineDeletion['cleanup'],
): Promise<ReleaseReport> {
  const { limits } = session;
  const facts = await lookUp(session, machineUid, []);
  if (facts.owner === 'Other') return { left: [] };
  const left = await undoInstall(session, { facts, machineUid, folder, cleanup });
  if (cleanup !== 'Orphan') {
    await session.command({ script: FORGET, values: [], timeoutMs: limits.commandMs });
  }
  return { left };
}

interface Undo {
  readonly facts: HostProgramFacts;
  readonly machineUid: string;
  readonly folder: string;
  readonly cleanup: MachineDeletion['cleanup'];
}

async function undoInstall(session: ImportSession, undo: Undo): Promise<readonly string[]> {
  const { facts, machineUid, folder, cleanup } = undo;
  if (facts.installed === undefined && facts.owner === 'None') return [];
  // An installation that was killed has left its records, and they need the program.
  const program = facts.installed ?? (await placeAgain(session, machineUid, folder));
  const values = [program, machineUid, cleanup];
  const end = await session.run({ script: RELEASE, values, timeoutMs: session.limits.releaseMs });
  const answer = parseAnswer(end.output);
  if (isRecord(answer) && Array.isArray(answer['left'])) {
    return listAt(answer, 'left').filter((each) => typeof each === 'string');
  }
  throw end.exitCode === 0
    ? badAnswer('release', session.where)
    : agentCommandError(end, RELEASE.name, session.where);
}

async function placeAgain(session: ImportSession, machineUid: string, folder: string): Promise<string> {
  const programs = await readPrograms(folder);
  const facts = await lookUp(session, machineUid, programs);
  return await placeProgram(session, facts, { folder, programs });
}

/** Undefined for an answer that is not JSON. */
function parseAnswer(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

function badAnswer(command: string, where: string): ImportError {
  return new ImportError('BadAnswer', `the program of the agent gave no valid answer to ${command}`, {
    where,
  });
}

async function* jsonInput(value: object): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(`${JSON.stringify(value)}\n`));
}

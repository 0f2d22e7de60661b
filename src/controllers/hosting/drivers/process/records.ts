/** The records in the folder of a control plane: whose it is, and when its members were started. Each is written before the act. */
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../os/files.ts';
import { HostingError } from '../../errors.ts';
import { BALANCERS, GATEWAYS, type PlaneMember, RUN_MEMBERS } from '../driver.ts';
import { PLANE_KEYS } from '../keys.ts';

const planeRecord = z.strictObject({
  format: z.literal(1),
  cluster: z.string(),
  uid: z.string(),
  /** The Kubernetes version that it was created with. runs.json has a later one. */
  version: z.string(),
  /** The port for the health of our own controllers. */
  controllersPort: z.int().optional(),
  isDestroying: z.boolean(),
  /** Whether the data of etcd was marked with its owner. */
  isDataMarked: z.boolean().optional(),
  /** The digests of the public keys. */
  keys: z.partialRecord(z.enum(PLANE_KEYS), z.string()).optional(),
});
export type PlaneRecord = Readonly<z.infer<typeof planeRecord>>;

const startRecord = z.partialRecord(
  z.enum([...RUN_MEMBERS, ...BALANCERS, ...GATEWAYS, 'kubenode-controllers']),
  z.array(z.iso.datetime()),
);

export const PLANE_FILE = 'plane.json';
const STARTS_FILE = 'starts.json';
const MAX_STARTS = 10;

export async function readPlaneRecord(folder: string): Promise<PlaneRecord | undefined> {
  const path = `${folder}/${PLANE_FILE}`;
  const text = await readFileIfExists(path);
  if (text === undefined) return undefined;
  const { data } = planeRecord.safeParse(parse(text));
  if (data) return data;
  throw corruptRecord(path);
}

export function corruptRecord(path: string, cause?: unknown): HostingError {
  return new HostingError('CorruptRecord', `${path} is not a valid record of a control plane`, {
    where: path,
    hint: 'restore it from a backup, or move the folder away and create the Cluster again',
    cause,
  });
}

export async function writePlaneRecord(folder: string, record: PlaneRecord): Promise<void> {
  await writeFileAtomic(`${folder}/${PLANE_FILE}`, `${JSON.stringify(record)}\n`, PRIVATE_MODE);
}

export type StartTimes = Readonly<Partial<Record<PlaneMember, readonly string[]>>>;

/** A file that cannot be read counts as no starts: it only limits how often a member is started again. */
export async function readStarts(folder: string): Promise<StartTimes> {
  const text = await readFileIfExists(`${folder}/${STARTS_FILE}`);
  return text === undefined ? {} : (startRecord.safeParse(parse(text)).data ?? {});
}

export async function recordStart(folder: string, member: PlaneMember, at: Date): Promise<void> {
  const starts = await readStarts(folder);
  const times = [...(starts[member] ?? []), at.toISOString()].slice(-MAX_STARTS);
  const content = `${JSON.stringify({ ...starts, [member]: times })}\n`;
  await writeFileAtomic(`${folder}/${STARTS_FILE}`, content, PRIVATE_MODE);
}

/** Forgets the starts of a member that is started with something else from now on: nothing is known about that. */
export async function forgetStarts(folder: string, member: PlaneMember): Promise<void> {
  const { [member]: forgotten, ...others } = await readStarts(folder);
  if (!forgotten) return;
  await writeFileAtomic(`${folder}/${STARTS_FILE}`, `${JSON.stringify(others)}\n`, PRIVATE_MODE);
}

/** Forgets all starts: every member is started with other certificates from now on. */
export async function forgetAllStarts(folder: string): Promise<void> {
  await rm(`${folder}/${STARTS_FILE}`, { force: true });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The record of what the members of a control plane are started with. It is written before a member is stopped for a change. */
import { z } from 'zod';
import { planeSettings } from '../../../../local/state.ts';
import { PRIVATE_MODE, readFileIfExists, writeFileAtomic } from '../../../../os/files.ts';
import {
  type MemberRun,
  type PlaneMember,
  RUN_MEMBERS,
  type RunMember,
  type SettledPlane,
} from '../driver.ts';
import { type MemberRuns, memberRuns } from '../runs.ts';
import type { PlaneFolder } from './folder.ts';
import type { Programs } from './programs.ts';
import { corruptRecord } from './records.ts';

const runsRecord = z.strictObject({
  format: z.literal(1),
  /** Absent: what the control plane was created with. */
  settled: z
    .strictObject({ version: z.string(), etcdVersion: z.string().optional(), settings: planeSettings })
    .optional(),
  members: z.partialRecord(
    z.enum(RUN_MEMBERS),
    z.strictObject({ version: z.string().optional(), flags: z.record(z.string(), z.string()) }),
  ),
});
export type RunsRecord = Readonly<z.infer<typeof runsRecord>>;

const RUNS_FILE = 'runs.json';
const NOTHING: RunsRecord = { format: 1, members: {} };

export async function readRuns(folder: string): Promise<RunsRecord> {
  const path = `${folder}/${RUNS_FILE}`;
  const text = await readFileIfExists(path);
  if (text === undefined) return NOTHING;
  try {
    return runsRecord.parse(JSON.parse(text));
  } catch (error) {
    throw corruptRecord(path, error);
  }
}

export async function recordRun(folder: string, member: RunMember, run: MemberRun): Promise<void> {
  const before = await readRuns(folder);
  await writeRuns(folder, { ...before, members: { ...before.members, [member]: run } });
}

/** Forgets what a member was changed to: it is started with what is settled. */
export async function forgetRun(folder: string, member: RunMember): Promise<void> {
  const { members, ...before } = await readRuns(folder);
  const { [member]: forgotten, ...others } = members;
  if (forgotten) await writeRuns(folder, { ...before, members: others });
}

export async function recordSettled(folder: string, settled: SettledPlane): Promise<void> {
  await writeRuns(folder, { ...(await readRuns(folder)), settled });
}

async function writeRuns(folder: string, record: RunsRecord): Promise<void> {
  await writeFileAtomic(`${folder}/${RUNS_FILE}`, `${JSON.stringify(record)}\n`, PRIVATE_MODE);
}

/** Undefined before the control plane is prepared. The version of its etcd is unknown before its first start. */
export function settledPlane(
  { record, state }: Pick<PlaneFolder, 'record' | 'state'>,
  { settled }: RunsRecord,
): SettledPlane | undefined {
  if (settled) return settled;
  const settings = state?.clusters[0]?.plane;
  return record && settings && { version: record.version, settings };
}

/**
 * Records with which etcd a control plane was created: later programs of the same version may have another one. The start of another member
 * proves nothing about an etcd that has been running since an earlier version of hosting.
 */
export async function recordFirstStart(
  { layout, settled }: Pick<PlaneFolder, 'layout'> & { readonly settled: SettledPlane | undefined },
  member: PlaneMember,
  programs: readonly Programs[],
): Promise<void> {
  if (member !== 'etcd' || !settled || settled.etcdVersion !== undefined) return;
  const etcdVersion = programs.find(({ version }) => version === settled.version)?.etcdVersion;
  if (etcdVersion !== undefined) await recordSettled(layout.root, { ...settled, etcdVersion });
}

/** A member that was never changed is started with what is settled. */
export function recordedRuns(settled: SettledPlane, { members }: RunsRecord): MemberRuns {
  const runs = memberRuns(settled);
  const changed = RUN_MEMBERS.map((member) => [member, members[member] ?? runs[member]] as const);
  return { ...runs, ...Object.fromEntries(changed) };
}

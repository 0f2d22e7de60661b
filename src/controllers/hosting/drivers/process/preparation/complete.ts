/** Tells how much of a control plane is there. */
import { etcdDataFolder } from '../../../../../local/layout.ts';
import { planeData } from '../../data.ts';
import type { DataState, PlaneReport, PlaneSpec } from '../../driver.ts';
import { readAccess } from '../access.ts';
import type { PlaneFolder } from '../folder.ts';
import { reportCertificates } from './certificates.ts';
import { dataOwner, readDataState } from './data.ts';
import { areKeysRecorded, reportLostKeys } from './keys.ts';
import { openEntries } from './rights.ts';

/** Tells whether everything was made that is made before a member starts, and others may read none of it. */
async function isPlanePrepared(found: PlaneFolder): Promise<boolean> {
  const { record, layout } = found;
  if (!record || record.isDataMarked !== true || !areKeysRecorded(record)) return false;
  if ((await readAccess(found)) === undefined) return false;
  return (await openEntries(layout, record.cluster)).length === 0;
}

export async function dataOf(found: PlaneFolder): Promise<DataState> {
  return planeData(await memberStates(found));
}

/** Tells whose data each member of etcd has, in their order. */
export async function memberStates(found: PlaneFolder): Promise<readonly DataState[]> {
  const members = found.state?.etcdMembers ?? [undefined];
  return await Promise.all(members.map((_, index) => memberData(found, index)));
}

/** Tells whose data a member of etcd has. */
export async function memberData({ record, layout, claim }: PlaneFolder, index: number): Promise<DataState> {
  if (!record || claim !== 'Own') return 'Empty';
  return await readDataState(etcdDataFolder(layout, index), dataOwner(record, index));
}

type Preparation = Pick<PlaneReport, 'isPrepared' | 'data' | 'lostKeys' | 'lostUnused' | 'certificates'>;

export async function reportPreparation(
  found: PlaneFolder,
  plane: PlaneSpec,
  now: Date,
): Promise<Preparation> {
  return {
    isPrepared: found.claim === 'Own' && found.state !== undefined && (await isPlanePrepared(found)),
    data: await dataOf(found),
    ...(found.claim === 'Own' ? await reportLostKeys(found) : { lostKeys: [] }),
    certificates: await reportCertificates(found, plane, now),
  };
}

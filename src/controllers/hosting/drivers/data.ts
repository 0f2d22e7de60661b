/** Judges the data of all members of an etcd together. Pure. */
import type { DataState } from './driver.ts';

/** Data of others in one folder is for a person to look at. Without a majority of members that have data, the data is lost. */
export function planeData(members: readonly DataState[]): DataState {
  if (members.includes('Other')) return 'Other';
  const own = members.filter((data) => data === 'Own').length;
  return own * 2 > members.length ? 'Own' : 'Empty';
}

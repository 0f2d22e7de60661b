/** Reads and changes the list of the members of an etcd, by its JSON gateway. */
import { z } from 'zod';
import type { ProbeEndpoint } from '../../../../local/processes/probe.ts';
import { anyAnswer, askEtcd } from './ask.ts';

const listed = z.object({
  ID: z.string(),
  /** Empty before the process of the member has joined. */
  name: z.string().default(''),
  peerURLs: z.array(z.string()).default([]),
  isLearner: z.boolean().default(false),
});
export type EtcdListEntry = Readonly<z.infer<typeof listed>>;

const MEMBERS = '/v3/cluster/member';
const answered = z.object({ members: z.array(listed) });

/** Rejects unless a majority agrees on the list, and where the member that is asked is a learner. */
export async function readMemberList(endpoint: ProbeEndpoint): Promise<readonly EtcdListEntry[]> {
  const body = { linearizable: true };
  return (await askEtcd(endpoint, `${MEMBERS}/list`, { shape: answered, body })).members;
}

export async function addLearner(endpoint: ProbeEndpoint, peerUrl: string): Promise<void> {
  await change(endpoint, 'add', { peerURLs: [peerUrl], isLearner: true });
}

export async function promoteLearner(endpoint: ProbeEndpoint, id: string): Promise<void> {
  await change(endpoint, 'promote', { ID: id });
}

export async function changePeerUrl(endpoint: ProbeEndpoint, id: string, peerUrl: string): Promise<void> {
  await change(endpoint, 'update', { ID: id, peerURLs: [peerUrl] });
}

export async function removeListed(endpoint: ProbeEndpoint, id: string): Promise<void> {
  await change(endpoint, 'remove', { ID: id });
}

async function change(endpoint: ProbeEndpoint, act: string, body: object): Promise<void> {
  await askEtcd(endpoint, `${MEMBERS}/${act}`, { shape: anyAnswer, body });
}

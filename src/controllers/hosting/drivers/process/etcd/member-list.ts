/** Reads and changes the list of the members of an etcd, by its JSON gateway. */
import { z } from 'zod';
import { type ProbeEndpoint, sendProbe } from '../../../../../local/processes/probe.ts';

const listed = z.object({
  ID: z.string(),
  /** Empty before the process of the member has joined. */
  name: z.string().default(''),
  peerURLs: z.array(z.string()).default([]),
  isLearner: z.boolean().default(false),
});
export type EtcdListEntry = Readonly<z.infer<typeof listed>>;

const answered = z.object({ members: z.array(listed) });

/** Rejects unless a majority agrees on the list, and where the member that is asked is a learner. */
export async function readMemberList(endpoint: ProbeEndpoint): Promise<readonly EtcdListEntry[]> {
  const body = await ask(endpoint, 'list', { linearizable: true });
  return answered.parse(JSON.parse(body)).members;
}

export async function addLearner(endpoint: ProbeEndpoint, peerUrl: string): Promise<void> {
  await ask(endpoint, 'add', { peerURLs: [peerUrl], isLearner: true });
}

export async function promoteLearner(endpoint: ProbeEndpoint, id: string): Promise<void> {
  await ask(endpoint, 'promote', { ID: id });
}

export async function changePeerUrl(endpoint: ProbeEndpoint, id: string, peerUrl: string): Promise<void> {
  await ask(endpoint, 'update', { ID: id, peerURLs: [peerUrl] });
}

export async function removeListed(endpoint: ProbeEndpoint, id: string): Promise<void> {
  await ask(endpoint, 'remove', { ID: id });
}

async function ask(endpoint: ProbeEndpoint, act: string, content: object): Promise<string> {
  const url = `${endpoint.url}/v3/cluster/member/${act}`;
  const answer = await sendProbe({ ...endpoint, url }, { method: 'POST', body: JSON.stringify(content) });
  if (answer.status === 200) return answer.body;
  throw new Error(`${url} answered ${answer.status}: ${answer.body.slice(0, 200)}`);
}

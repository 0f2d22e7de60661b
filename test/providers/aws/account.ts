/** What others do in the account of AWS, past the provider. Must not import vitest: benchmarks use it too. */
import { TAG_CLUSTER_UID, TAG_MACHINE, TAG_MACHINE_UID } from '../../../src/providers/cloud/tags.ts';
import type { CloudProxy } from '../cloud/cloud-proxy.ts';
import { CLUSTER, type CloudAccount, type ContractCall } from '../contract/harness.ts';
import { actionOf, ec2Error } from './ec2.ts';

export type SendToEc2 = (fields: Readonly<Record<string, string>>) => Promise<string>;

export interface AwsAccountParts {
  readonly proxy: CloudProxy;
  readonly send: SendToEc2;
  readonly image: string;
  readonly actions: Readonly<Record<ContractCall, readonly string[]>>;
  /** The ids of the instances of a Machine that run. */
  readonly runningIds: (machineUid: string) => Promise<readonly string[]>;
}

const EXPIRED = ec2Error(400, 'ExpiredToken', 'The security token included in the request is expired');

export function createAwsAccount({ proxy, send, image, actions, runningIds }: AwsAccountParts): CloudAccount {
  return {
    copies: 'Named',
    expire(calls) {
      const expired = calls.flatMap((call) => actions[call]);
      return proxy.always((request) =>
        expired.includes(actionOf(request)) ? { type: 'Answer', answer: EXPIRED } : undefined,
      );
    },
    async removeByHand(uid) {
      for (const id of await runningIds(uid)) {
        await send({ Action: 'TerminateInstances', 'InstanceId.1': id });
      }
    },
    copyByHand: async (uid) => void (await copyByHand(send, image, uid)),
  };
}

/** Returns the id of the copy. */
export async function copyByHand(send: SendToEc2, image: string, uid: string): Promise<string> {
  const tags = { [TAG_CLUSTER_UID]: CLUSTER, [TAG_MACHINE_UID]: uid, [TAG_MACHINE]: 'n1' };
  const fields = Object.entries(tags).flatMap(([key, value], index) => [
    [`TagSpecification.1.Tag.${index + 1}.Key`, key],
    [`TagSpecification.1.Tag.${index + 1}.Value`, value],
  ]);
  const answer = await send({
    Action: 'RunInstances',
    ImageId: image,
    MinCount: '1',
    MaxCount: '1',
    'TagSpecification.1.ResourceType': 'instance',
    ...(Object.fromEntries(fields) as Record<string, string>),
  });
  return /<instanceId>(.*?)<\/instanceId>/.exec(answer)?.[1] ?? '';
}

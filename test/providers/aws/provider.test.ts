import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ProviderError } from '../../../src/providers/contract.ts';
import { noMotoReason } from '../../support/moto/venv.ts';
import type { CloudAnswer, CloudRequest } from '../cloud/cloud-proxy.ts';
import { CLUSTER, NEVER, OTHER_CLUSTER, requestOf } from '../contract/harness.ts';
import { copyByHand } from './account.ts';
import { type AwsBed, type AwsCloud, IMAGE, idsIn, openAwsBed, startAwsCloud, ZONE } from './bed.ts';
import { actionOf, EMPTY_PAGE, ec2Error } from './ec2.ts';

const SHAPE = { config: { instanceType: 'm5.large', imageId: IMAGE }, host: 'systemd', zone: ZONE } as const;
const START_MS = 900_000;

/** As EC2 names an instance. */
function bare(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

describe.skipIf(noMotoReason !== undefined)(
  `the provider aws${noMotoReason ? ` (${noMotoReason})` : ''}`,
  () => {
    let cloud: AwsCloud;
    beforeAll(async () => {
      cloud = await startAwsCloud();
    }, START_MS);
    afterAll(() => cloud[Symbol.asyncDispose]());

    async function open(): Promise<AwsBed> {
      const bed = await openAwsBed(cloud);
      onTestFinished(() => bed[Symbol.asyncDispose]());
      return bed;
    }

    async function created(
      changes: Parameters<typeof requestOf>[1] = {},
    ): Promise<{ bed: AwsBed; id: string; uid: string; request: ReturnType<typeof requestOf> }> {
      const bed = await open();
      const request = requestOf(SHAPE, changes);
      return { bed, request, id: await bed.provider.create(request, NEVER), uid: request.tags.machineUid };
    }

    it('starts the agent by the user data, and gives the token to the host only', async () => {
      const { bed, id } = await created();
      const xml = await bed.send({
        Action: 'DescribeInstanceAttribute',
        InstanceId: bare(id),
        Attribute: 'userData',
      });
      const [, encoded = ''] = /<userData>\s*<value>(.*?)<\/value>/s.exec(xml) ?? [];
      const text = Buffer.from(encoded, 'base64').toString();
      expect(text.startsWith('#cloud-config\n')).toBe(true);
      expect(text).toContain('abcdef.0123456789abcdef');
      expect(await bed.send({ Action: 'DescribeInstances' })).toContain('<httpTokens>required</httpTokens>');
    });

    it('creates the instance in the subnet of its zone', async () => {
      const bed = await open();
      const subnets = await bed.send({
        Action: 'DescribeSubnets',
        'Filter.1.Name': 'availabilityZone',
        'Filter.1.Value.1': 'us-east-1c',
      });
      const [, subnet = ''] = /<subnetId>(.*?)<\/subnetId>/.exec(subnets) ?? [];
      const shape = {
        ...SHAPE,
        zone: 'us-east-1c',
        config: { ...SHAPE.config, subnetIds: { 'us-east-1c': subnet } },
      };
      const id = await bed.provider.create(requestOf(shape), NEVER);
      expect(id).toMatch(/^aws:\/\/\/us-east-1c\/i-/);
      expect(await bed.send({ Action: 'DescribeInstances' })).toContain(`<subnetId>${subnet}</subnetId>`);
    });

    it('finds an instance that was deleted by hand no more, and creates no other one for its Machine', async () => {
      const { bed, id, request } = await created();
      await bed.send({ Action: 'TerminateInstances', 'InstanceId.1': bare(id) });
      expect(await bed.provider.get(id, NEVER)).toBeUndefined();
      await expect(bed.provider.create(request, NEVER)).rejects.toMatchObject({
        code: 'Terminal',
        reason: 'Deleted',
      });
      await expect(bed.provider.delete(id, NEVER)).resolves.toBeUndefined();
    });

    it('creates no other one either while a list does not have the instance that ended', async () => {
      const { bed, id, request } = await created();
      await bed.send({ Action: 'TerminateInstances', 'InstanceId.1': bare(id) });
      await bed.inject('StaleList', 'create');
      await expect(bed.provider.create(request, NEVER)).rejects.toMatchObject({
        code: 'Terminal',
        reason: 'Deleted',
      });
    });

    it('names two instances with the UID of one Machine, and creates no third', async () => {
      const { bed, id, uid, request } = await created();
      const copy = await copyByHand((fields) => bed.send(fields), IMAGE, uid);
      const failed = bed.provider.create(request, NEVER);
      await expect(failed).rejects.toMatchObject({ code: 'Terminal', reason: 'DuplicateInstances' });
      await expect(failed).rejects.toThrow(new RegExp(`${bare(id)}|${copy}`));
      expect(await bed.provider.find(request.tags, NEVER)).toHaveLength(2);
      expect(await bed.countHosts(uid)).toBe(2);
    });

    it('calls an instance without its tags neither missing nor ours: it is not deleted', async () => {
      const { bed, id } = await created();
      await bed.send({ Action: 'DeleteTags', 'ResourceId.1': bare(id), 'Tag.1.Key': 'kubenode-machine-uid' });
      const missing = { code: 'Terminal', reason: 'TagsMissing' };
      await expect(bed.provider.get(id, NEVER)).rejects.toMatchObject(missing);
      await expect(bed.provider.delete(id, NEVER)).rejects.toMatchObject(missing);
      await expect(bed.provider.power(id, 'off', NEVER)).rejects.toMatchObject(missing);
      expect(await bed.send({ Action: 'DescribeInstances' })).toContain('<name>running</name>');
    });

    it('calls no instance missing that is in another region', async () => {
      const bed = await open();
      const other = 'aws:///eu-central-1a/i-0123456789abcdef0';
      const calls = [bed.provider.get(other, NEVER), bed.provider.delete(other, NEVER)];
      const refused = { reason: { code: 'Terminal', reason: 'OtherRegion' } };
      expect(await Promise.allSettled(calls)).toMatchObject([refused, refused]);
      const shape = { ...SHAPE, zone: 'eu-central-1a', config: { ...SHAPE.config, region: 'eu-central-1' } };
      await expect(bed.provider.create(requestOf(shape), NEVER)).rejects.toMatchObject({
        reason: 'OtherRegion',
      });
    });

    it('tells why an instance cannot be deleted that is protected', async () => {
      const { bed, id, uid } = await created();
      await bed.send({
        Action: 'ModifyInstanceAttribute',
        InstanceId: bare(id),
        'DisableApiTermination.Value': 'true',
      });
      await expect(bed.provider.delete(id, NEVER)).rejects.toMatchObject({
        code: 'Terminal',
        reason: 'OperationNotPermitted',
      });
      expect(await bed.countHosts(uid)).toBe(1);
    });

    it('deletes no instance before it has ended: its caller repeats', async () => {
      const { bed, id } = await created();
      let ms = 0;
      const clock = {
        now: () => new Date('2026-11-27T04:00:00Z'),
        monotonicMs: () => ms,
        sleep: async (forMs: number) => void (ms += forMs),
      };
      const provider = await bed.open({ clock, pollMs: 5000 });
      const end = cloud.proxy.always((request) =>
        actionOf(request) === 'DescribeInstances'
          ? {
              type: 'ChangeAnswer',
              change: (answer) => ({
                ...answer,
                body: answer.body.replaceAll('<name>terminated</name>', '<name>shutting-down</name>'),
              }),
            }
          : undefined,
      );
      await expect(provider.delete(id, NEVER)).rejects.toMatchObject({
        code: 'Retryable',
        reason: 'Terminating',
        retryAfterSeconds: 10,
      });
      expect(ms).toBe(20_000);
      end();
      await expect(provider.delete(id, NEVER)).resolves.toBeUndefined();
    });

    it('stops an instance as a power switch does: at once, and without asking its kernel', async () => {
      const { bed, id, uid } = await created();
      await bed.provider.power(id, 'off', NEVER);
      const [stop] = cloud.proxy.requests.filter((request) => actionOf(request) === 'StopInstances');
      const form = new URLSearchParams(stop?.body);
      expect([form.get('Force'), form.get('SkipOsShutdown'), form.get('Hibernate')]).toEqual([
        'true',
        'true',
        null,
      ]);
      expect(await bed.countHosts(uid)).toBe(0);
    });

    it('starts no instance that still stops', async () => {
      const { bed, id } = await created();
      cloud.proxy.next(isList, STOPPING);
      expect((await bed.provider.get(id, NEVER))?.state).toBe('Unknown');
      cloud.proxy.next(isList, STOPPING);
      await expect(bed.provider.power(id, 'on', NEVER)).rejects.toMatchObject({
        code: 'Retryable',
        reason: 'InstanceChanging',
      });
    });

    it('fails with Auth when the credentials expire in the middle', async () => {
      const { bed, id, uid } = await created();
      const expired = {
        type: 'Answer',
        answer: ec2Error(400, 'ExpiredToken', 'The security token included in the request is expired'),
      } as const;
      const end = cloud.proxy.always(() => expired);
      const calls = [
        bed.provider.get(id, NEVER),
        bed.provider.delete(id, NEVER),
        bed.provider.find({ clusterUid: CLUSTER }, NEVER),
      ];
      const refused = { reason: { code: 'Auth', reason: 'ExpiredToken' } };
      expect(await Promise.allSettled(calls)).toMatchObject([refused, refused, refused]);
      end();
      expect(await bed.countHosts(uid)).toBe(1);
    });

    describe('lists', () => {
      const page = { type: 'ChangeAnswer', change: withToken } as const;

      it('all pages', async () => {
        const { bed, id } = await created();
        cloud.proxy.next(isList, page);
        cloud.proxy.next(isList, { type: 'Answer', answer: EMPTY_PAGE });
        const found = await bed.provider.find({ clusterUid: CLUSTER }, NEVER);
        expect(found.map((each) => each.id)).toContain(id);
        expect(cloud.proxy.requests.filter(({ body }) => body.includes('NextToken=page2'))).toHaveLength(1);
      });

      it('nothing rather than less when a later page fails', async () => {
        const { bed } = await created();
        cloud.proxy.next(isList, page);
        cloud.proxy.next(isList, { type: 'Answer', answer: ec2Error(503, 'RequestLimitExceeded', 'x') });
        await expect(bed.provider.find({ clusterUid: CLUSTER }, NEVER)).rejects.toMatchObject({
          code: 'Retryable',
        });
      });

      it('literally: a star in a name matches only itself', async () => {
        const { bed } = await created({ set: 'general' });
        expect(await bed.provider.find({ clusterUid: CLUSTER, set: 'gen*' }, NEVER)).toEqual([]);
      });
    });

    it('gets a hundred instances by few requests', async () => {
      const { bed, id } = await created();
      const before = cloud.proxy.requests.length;
      const found = await Promise.all(Array.from({ length: 100 }, () => bed.provider.get(id, NEVER)));
      expect(new Set(found.map((each) => each?.id))).toEqual(new Set([id]));
      expect(cloud.proxy.requests.length - before).toBe(2);
    });

    describe('announces', () => {
      const event = {
        zone: ZONE,
        eventId: 'instance-event-1',
        code: 'system-reboot',
        description: 'reboot',
        notBefore: '2026-12-01T00:00:00.000Z',
      };

      it('the events of our instances, the same each time', async () => {
        const { bed, id } = await created();
        cloud.ec2.events.push({ ...event, instanceId: bare(id) });
        const expected = [
          {
            eventId: 'instance-event-1',
            instanceId: id,
            type: 'Reboot',
            notBefore: new Date('2026-12-01T00:00:00Z'),
          },
        ];
        expect([await bed.provider.events(NEVER), await bed.provider.events(NEVER)]).toEqual([
          expected,
          expected,
        ]);
      });

      it('no event that was taken back, and none of foreign instances', async () => {
        const { bed, id } = await created();
        const [foreign = ''] = idsIn(
          await bed.send({ Action: 'RunInstances', ImageId: IMAGE, MinCount: '1', MaxCount: '1' }),
        );
        cloud.ec2.events.push(
          { ...event, instanceId: bare(id), description: '[Canceled] reboot' },
          { ...event, instanceId: foreign },
          { ...event, instanceId: 'i-0123456789abcdef0' },
        );
        expect(await bed.provider.events(NEVER)).toEqual([]);
      });

      it('nothing rather than less while it cannot look up whose they are', async () => {
        const { bed, id } = await created();
        cloud.ec2.events.push({ ...event, instanceId: bare(id) });
        await bed.inject('AnswerLost', 'get');
        await expect(bed.provider.events(NEVER)).rejects.toThrow(ProviderError);
      });
    });

    it('finds no instance of another cluster by a UID that both know', async () => {
      const { bed, uid } = await created({ clusterUid: OTHER_CLUSTER });
      expect(await bed.provider.find({ clusterUid: CLUSTER, machineUid: uid }, NEVER)).toEqual([]);
    });
  },
);

function withToken(answer: CloudAnswer): CloudAnswer {
  const body = answer.body.replace('</reservationSet>', '</reservationSet><nextToken>page2</nextToken>');
  return { ...answer, body };
}

function isList(request: CloudRequest): boolean {
  return actionOf(request) === 'DescribeInstances';
}

const STOPPING = {
  type: 'ChangeAnswer',
  change: (answer: CloudAnswer) => ({
    ...answer,
    body: answer.body.replace('<name>running</name>', '<name>stopping</name>'),
  }),
} as const;

/** By hand, past our programs. */

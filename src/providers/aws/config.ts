/** Reads `spec.infra.config` of provider aws. Pure. */
import { z } from 'zod';
import { cloudConfigReason } from '../cloud/config-reason.ts';
import { cloudKind } from '../cloud/kind.ts';
import { isOwnTag } from '../cloud/tags.ts';
import type { InstancePlatform, InstanceShape, ProviderKind } from '../contract.ts';

const ID_LENGTH = 64;
/** EC2 accepts 50 tags, of which five are ours. */
const MAX_TAGS = 40;

function idOf(prefix: string): z.ZodString {
  return z
    .string()
    .max(ID_LENGTH)
    .regex(new RegExp(`^${prefix}-[0-9a-f]+$`), `expected an id such as ${prefix}-0123456789abcdef0`);
}

const word = z.string().regex(/^[A-Za-z0-9+=,.@_:/-]{1,255}$/, 'expected a name');

const rootVolume = z.strictObject({
  deviceName: z
    .string()
    .regex(/^\/dev\/[a-z0-9/]{2,30}$/, 'expected the root device of the image, such as /dev/xvda'),
  sizeGiB: z.int().min(1).max(65_536),
  type: z.enum(['gp3', 'gp2', 'io1', 'io2']).default('gp3'),
  iops: z.int().min(100).max(256_000).optional(),
  throughput: z.int().min(125).max(2000).optional(),
  encrypted: z.boolean().default(true),
  kmsKeyId: word.optional(),
});

const config = z
  .strictObject({
    region: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected a region such as eu-central-1')
      .optional(),
    launchTemplate: z
      .strictObject({
        id: idOf('lt').optional(),
        name: word.optional(),
        version: z
          .string()
          .regex(/^(\d{1,9}|\$Latest|\$Default)$/)
          .default('$Default'),
      })
      .refine(({ id, name }) => (id === undefined) !== (name === undefined), 'expected either id or name')
      .optional(),
    instanceType: z
      .string()
      .regex(/^[a-z0-9-]+\.[a-z0-9-]+$/, 'expected a type such as m7i.large')
      .optional(),
    imageId: idOf('ami').optional(),
    subnetIds: z
      .record(z.string().max(63), idOf('subnet'))
      .refine((subnets) => Object.keys(subnets).length > 0, 'expected the subnet of at least one zone')
      .optional(),
    securityGroupIds: z.array(idOf('sg')).min(1).max(16).optional(),
    iamInstanceProfile: word.optional(),
    keyName: z.string().min(1).max(255).optional(),
    spot: z
      .strictObject({
        maxPrice: z
          .string()
          .regex(/^\d+(\.\d+)?$/, 'expected a price in US dollars')
          .optional(),
      })
      .optional(),
    rootVolume: rootVolume.optional(),
    metadataHopLimit: z.int().min(1).max(64).default(1),
    tags: z
      .record(z.string().min(1).max(128), z.string().max(256))
      .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `expected at most ${MAX_TAGS} tags`)
      .refine(
        (tags) => !Object.keys(tags).some(isReserved),
        'expected no tag that begins with kubenode- or aws:',
      )
      .default({}),
  })
  .refine(
    ({ launchTemplate, instanceType, imageId }) =>
      launchTemplate !== undefined || (instanceType !== undefined && imageId !== undefined),
    'expected instanceType and imageId, or launchTemplate',
  );

export type AwsConfig = Readonly<z.infer<typeof config>>;

export const AWS: ProviderKind = { ...cloudKind('aws', awsConfigReason), platformOf: awsPlatform };

export function awsConfigReason(shape: InstanceShape): string | undefined {
  return cloudConfigReason('aws', config, shape) ?? zoneReason(shape);
}

/**
 * Instance types with Graviton or Grace processors: a1, those with a g after the generation, and those of Grace Blackwell (p6e-gb200), as the
 * EC2 documentation names its types. The types of a launch template are not known here.
 */
const ARM = /^(a1|[a-z]+\d+[a-z]*(g[a-z]*|-gb\d+))\./;

function awsPlatform(shape: InstanceShape): InstancePlatform {
  const type = shape.config['instanceType'];
  if (typeof type !== 'string') return { os: 'linux' };
  return { os: 'linux', arch: ARM.test(type) ? 'arm64' : 'amd64' };
}

/** Reads a config that was accepted. */
export function readAwsConfig(shape: InstanceShape): AwsConfig {
  return config.parse(shape.config);
}

function zoneReason({ config: fields, zone }: InstanceShape): string | undefined {
  if (zone === undefined || Object.keys(fields).length === 0) return undefined;
  const { region, subnetIds } = config.parse(fields);
  if (region !== undefined && !zone.startsWith(region)) {
    return `spec.zone: expected a zone of region ${region}, got ${zone}`;
  }
  if (!subnetIds || Object.hasOwn(subnetIds, zone)) return undefined;
  return `spec.infra.config.subnetIds: no subnet for zone ${zone}`;
}

function isReserved(name: string): boolean {
  return isOwnTag(name) || name.toLowerCase().startsWith('aws:');
}

/** Reads `spec.infra.config` of provider alibaba. Pure. */
import { z } from 'zod';
import { cloudConfigReason } from '../cloud/config-reason.ts';
import { cloudKind } from '../cloud/kind.ts';
import { isOwnTag } from '../cloud/tags.ts';
import type { InstanceShape } from '../contract.ts';

/** ECS accepts 20 tags, of which four are ours. */
const MAX_TAGS = 16;
/** ECS limits keys and values of tags to so many characters. */
export const MAX_TAG_LENGTH = 128;

function idOf(prefix: string): z.ZodString {
  return z
    .string()
    .max(64)
    .regex(new RegExp(`^${prefix}-[0-9a-z]+$`), `expected an id such as ${prefix}-bp1s5fnvk4gn2tws0312`);
}

const systemDisk = z.strictObject({
  category: z
    .enum(['cloud_essd', 'cloud_auto', 'cloud_essd_entry', 'cloud_ssd', 'cloud_efficiency'])
    .default('cloud_essd'),
  sizeGiB: z.int().min(20).max(2048),
  performanceLevel: z.enum(['PL0', 'PL1', 'PL2', 'PL3']).optional(),
});

const config = z.strictObject({
  instanceType: z.string().regex(/^ecs(\.[a-z0-9-]{1,40}){2,3}$/, 'expected a type such as ecs.g7.large'),
  imageId: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,127}$/, 'expected the id of an image'),
  vSwitchIds: z
    .record(z.string().max(63), idOf('vsw'))
    .refine((ids) => Object.keys(ids).length > 0, 'expected the vSwitch of at least one zone'),
  securityGroupIds: z.array(idOf('sg')).min(1).max(5),
  ramRole: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'expected the name of a RAM role')
    .optional(),
  keyPair: z.string().min(2).max(128).optional(),
  resourceGroupId: idOf('rg').optional(),
  spot: z.strictObject({ maxPricePerHour: z.number().positive().max(10_000).optional() }).optional(),
  systemDisk: systemDisk.optional(),
  metadataTokens: z.enum(['required', 'optional']).default('required'),
  tags: z
    .record(z.string().min(1).max(MAX_TAG_LENGTH), z.string().max(MAX_TAG_LENGTH))
    .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `expected at most ${MAX_TAGS} tags`)
    .refine(
      (tags) => !Object.entries(tags).flat().some(isReserved),
      'expected no tag that begins with kubenode-, aliyun or acs:, or has http:// in it',
    )
    .default({}),
});

export type AlibabaConfig = Readonly<z.infer<typeof config>>;

export const ALIBABA = cloudKind('alibaba', alibabaConfigReason);

export function alibabaConfigReason(shape: InstanceShape): string | undefined {
  return cloudConfigReason('alibaba', config, shape) ?? zoneReason(shape);
}

/** Reads a config that was accepted. */
export function readAlibabaConfig(shape: InstanceShape): AlibabaConfig {
  return config.parse(shape.config);
}

/** Returns the vSwitch of the zone. Without a zone in the spec there is only one: no instance is in a zone by chance. */
export function vSwitchOf({ vSwitchIds }: AlibabaConfig, zone: string | undefined): string | undefined {
  const all = Object.values(vSwitchIds);
  if (zone !== undefined) return Object.hasOwn(vSwitchIds, zone) ? vSwitchIds[zone] : undefined;
  return all.length === 1 ? all[0] : undefined;
}

function zoneReason({ config: fields, zone }: InstanceShape): string | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  const parsed = config.parse(fields);
  if (vSwitchOf(parsed, zone) !== undefined) return undefined;
  if (zone !== undefined) return `spec.infra.config.vSwitchIds: no vSwitch for zone ${zone}`;
  return `spec.zone: expected one of ${Object.keys(parsed.vSwitchIds).toSorted().join(', ')}`;
}

function isReserved(text: string): boolean {
  return isOwnTag(text) || /^(aliyun|acs:)/i.test(text) || /https?:\/\//i.test(text);
}

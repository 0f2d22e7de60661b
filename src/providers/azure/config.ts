/** Reads `spec.infra.config` of provider azure. Pure. */
import { z } from 'zod';
import { cloudConfigReason } from '../cloud/config-reason.ts';
import { cloudKind } from '../cloud/kind.ts';
import { isOwnTag } from '../cloud/tags.ts';
import type { InstanceShape } from '../contract.ts';

/** Azure accepts 50 tags, of which four are ours. */
const MAX_TAGS = 46;
const MAX_TAG_NAME = 512;

/** A part of an id. One of dots only, or with a backslash, would lead a request for the id to another path. */
const PART = String.raw`(?!\.+(?:/|$))[^/?#%\s\\]+`;
const IN_GROUP = `/subscriptions/${PART}/resourceGroups/${PART}/providers`;

/** The id of a resource of this type, such as Microsoft.Network/networkSecurityGroups. */
function resourceId(type: string, child?: string): z.ZodString {
  const path = `${IN_GROUP}/${type.replace('.', String.raw`\.`)}/${PART}`;
  const pattern = child === undefined ? path : `${path}/${child}/${PART}`;
  const example = `/subscriptions/…/resourceGroups/…/providers/${type}/…${child === undefined ? '' : `/${child}/…`}`;
  return z
    .string()
    .max(400)
    .regex(new RegExp(`^${pattern}$`, 'i'), `expected an id such as ${example}`);
}

const imageId = z
  .string()
  .max(400)
  .regex(
    new RegExp(
      `^${IN_GROUP}/Microsoft\\.Compute/(images/${PART}|galleries/${PART}/images/${PART}(/versions/${PART})?)$`,
      'i',
    ),
    'expected the id of an image, or of one in a gallery',
  );

const word = z.string().regex(/^[\w.-]{1,64}$/, 'expected a name');

const image = z.union(
  [
    z.strictObject({ id: imageId }),
    z.strictObject({ publisher: word, offer: word, sku: word, version: word.default('latest') }),
  ],
  { error: 'expected the id of an image, or publisher, offer and sku' },
);

const config = z.strictObject({
  vmSize: z.string().regex(/^[A-Za-z0-9_-]{2,64}$/, 'expected a size such as Standard_D4s_v5'),
  image,
  subnetId: resourceId('Microsoft.Network/virtualNetworks', 'subnets'),
  sshPublicKey: z
    .string()
    .max(4096)
    .regex(/^(ssh-rsa|ssh-ed25519) [A-Za-z0-9+/=]+( .*)?$/, 'expected a public key, ssh-rsa or ssh-ed25519'),
  adminUser: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'expected the name of a user')
    .refine((name) => !['root', 'admin', 'user'].includes(name), 'expected a name that Azure accepts')
    .default('azureuser'),
  networkSecurityGroupId: resourceId('Microsoft.Network/networkSecurityGroups').optional(),
  acceleratedNetworking: z.boolean().optional(),
  identityIds: z
    .array(resourceId('Microsoft.ManagedIdentity/userAssignedIdentities'))
    .min(1)
    .max(10)
    .optional(),
  osDisk: z
    .strictObject({
      type: z
        .enum(['Premium_LRS', 'Premium_ZRS', 'StandardSSD_LRS', 'StandardSSD_ZRS', 'Standard_LRS'])
        .default('Premium_LRS'),
      sizeGiB: z.int().min(8).max(4095).optional(),
      encryptionSetId: resourceId('Microsoft.Compute/diskEncryptionSets').optional(),
    })
    .optional(),
  spot: z.strictObject({ maxPricePerHour: z.number().positive().max(10_000).optional() }).optional(),
  trustedLaunch: z.boolean().optional(),
  tags: z
    .record(z.string().min(1).max(MAX_TAG_NAME), z.string().max(256))
    .refine(
      (tags) => !Object.keys(tags).some((name) => /[<>%&\\?/]/.test(name)),
      'expected names without < > % & \\ ? /',
    )
    .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `expected at most ${MAX_TAGS} tags`)
    .refine(
      (tags) => !Object.keys(tags).some(isReserved),
      'expected no tag that begins with kubenode-, microsoft, azure or windows',
    )
    .default({}),
});

export type AzureConfig = Readonly<z.infer<typeof config>>;

export const AZURE = cloudKind('azure', azureConfigReason);

export function azureConfigReason(shape: InstanceShape): string | undefined {
  return cloudConfigReason('azure', config, shape) ?? zoneReason(shape);
}

/** Reads a config that was accepted. */
export function readAzureConfig(shape: InstanceShape): AzureConfig {
  return config.parse(shape.config);
}

const ZONE = /^(?<region>[a-z][a-z0-9]{1,49})-(?<number>[1-9])$/;

export interface AzureZone {
  readonly region: string;
  /** As Azure names zones: they have no region in their name. */
  readonly number: string;
}

/** Returns the zone, which is written as the label of Nodes: the region and the number. Undefined: it is not one of Azure. */
export function parseZone(zone: string): AzureZone | undefined {
  const { region, number } = ZONE.exec(zone)?.groups ?? {};
  return region === undefined || number === undefined ? undefined : { region, number };
}

function zoneReason({ config: fields, zone }: InstanceShape): string | undefined {
  if (zone === undefined || Object.keys(fields).length === 0 || parseZone(zone)) return undefined;
  return `spec.zone: expected a region and a number, such as westeurope-1, got ${zone}`;
}

function isReserved(name: string): boolean {
  return isOwnTag(name) || /^(microsoft|azure|windows)/i.test(name);
}

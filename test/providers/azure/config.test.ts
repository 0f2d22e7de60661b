import { describe, expect, it } from 'vitest';
import { AZURE, azureConfigReason, parseZone, readAzureConfig } from '../../../src/providers/azure/config.ts';
import { CONFIG } from './bed.ts';
import { GROUP } from './server/arm.ts';

const GALLERY = `${GROUP}/providers/Microsoft.Compute/galleries/fleet/images/node`;

function reasonOf(config: object, zone?: string): string | undefined {
  return azureConfigReason({
    config: { ...config },
    host: 'systemd',
    ...(zone === undefined ? {} : { zone }),
  });
}

describe('azureConfigReason', () => {
  it.each<[name: string, config: object, reason: string, zone?: string]>([
    ['a size with a space', { ...CONFIG, vmSize: 'Standard D4' }, '.vmSize: expected a size'],
    ['an image that is neither', { ...CONFIG, image: { publisher: 'debian' } }, '.image: expected the id'],
    ['an image that is both', { ...CONFIG, image: { id: GALLERY, sku: 'x' } }, 'spec.infra.config.image'],
    [
      'the id of a disk as an image',
      { ...CONFIG, image: { id: `${GROUP}/providers/Microsoft.Compute/disks/x` } },
      '.image.id: expected the id',
    ],
    [
      'a network without a subnet',
      { ...CONFIG, subnetId: CONFIG.subnetId.replace('/subnets/nodes', '') },
      '.subnetId: expected an id',
    ],
    ...['..', '.', 'a\\b'].map((name): [string, object, string] => [
      `a subnet called ${name}`,
      { ...CONFIG, subnetId: CONFIG.subnetId.replace(/nodes$/, name) },
      '.subnetId: expected an id',
    ]),
    [
      'a resource group of dots',
      { ...CONFIG, subnetId: CONFIG.subnetId.replace(/resourceGroups\/[^/]+/, 'resourceGroups/..') },
      '.subnetId: expected an id',
    ],
    [
      'an image of dots',
      { ...CONFIG, image: { id: `${GALLERY}/versions/..` } },
      '.image.id: expected the id',
    ],
    ['a subnet with a query', { ...CONFIG, subnetId: `${CONFIG.subnetId}?x` }, '.subnetId: expected an id'],
    [
      'a private key',
      { ...CONFIG, sshPublicKey: '-----BEGIN OPENSSH PRIVATE KEY-----' },
      '.sshPublicKey: expected a public key',
    ],
    [
      'a key of two lines',
      { ...CONFIG, sshPublicKey: 'ssh-rsa AAAA\nssh-rsa BBBB' },
      '.sshPublicKey: expected a public key',
    ],
    ['the user root', { ...CONFIG, adminUser: 'root' }, '.adminUser: expected a name that Azure accepts'],
    ['a user with a path', { ...CONFIG, adminUser: '../x' }, '.adminUser: expected the name of a user'],
    ['no identity', { ...CONFIG, identityIds: [] }, '.identityIds'],
    ['a small disk', { ...CONFIG, osDisk: { sizeGiB: 4 } }, '.osDisk.sizeGiB'],
    ['an ephemeral type', { ...CONFIG, osDisk: { type: 'UltraSSD_LRS' } }, '.osDisk.type'],
    ['a price of nothing', { ...CONFIG, spot: { maxPricePerHour: 0 } }, '.spot.maxPricePerHour'],
    ['a reserved tag', { ...CONFIG, tags: { 'microsoft.x': 'y' } }, '.tags: expected no tag'],
    ['our tag in capitals', { ...CONFIG, tags: { 'Kubenode-Set': 'y' } }, '.tags: expected no tag'],
    ['a tag with a slash', { ...CONFIG, tags: { 'a/b': 'y' } }, '.tags: expected names without'],
    [
      '47 tags',
      { ...CONFIG, tags: Object.fromEntries(Array.from({ length: 47 }, (_, n) => [`t${n}`, 'y'])) },
      '.tags: expected at most 46 tags',
    ],
    ['a zone without its region', CONFIG, 'expected a region and a number', '1'],
    ['a zone of another form', CONFIG, 'expected a region and a number', 'westeurope-a'],
  ])('refuses %s', (_, config, reason, zone) => {
    expect(reasonOf(config, zone)).toContain(reason);
  });

  it.each<[name: string, config: object, zone?: string]>([
    ['a config', CONFIG],
    ['a host that joins by itself', {}, 'anywhere'],
    ['names with dots', { ...CONFIG, subnetId: CONFIG.subnetId.replace(/nodes$/, '.nodes..1') }],
    ['the newest version of an image in a gallery', { ...CONFIG, image: { id: GALLERY } }],
    [
      'ids in another case',
      { ...CONFIG, subnetId: CONFIG.subnetId.replace('resourceGroups', 'resourcegroups') },
    ],
    ['an RSA key', { ...CONFIG, sshPublicKey: 'ssh-rsa AAAAB3NzaC1yc2E= ops' }],
    ['a zone', CONFIG, 'westeurope-3'],
  ])('accepts %s', (_, config, zone) => {
    expect(reasonOf(config, zone)).toBeUndefined();
  });

  it('asks for no instance without a config', () => {
    expect(AZURE.hasInstance({ config: {}, host: 'systemd' })).toBe(false);
  });
});

describe('readAzureConfig', () => {
  it('fills the defaults in', () => {
    expect(readAzureConfig({ config: CONFIG, host: 'systemd' })).toMatchObject({
      adminUser: 'azureuser',
      image: { ...CONFIG.image, version: 'latest' },
      tags: {},
    });
  });
});

describe('parseZone', () => {
  it.each([
    ['westeurope-1', { region: 'westeurope', number: '1' }],
    ['usgovvirginia-3', { region: 'usgovvirginia', number: '3' }],
    ['westeurope', undefined],
    ['eu-central-1', undefined],
    ['westeurope-0', undefined],
  ])('reads %s', (zone, expected) => {
    expect(parseZone(zone)).toEqual(expected);
  });
});

/** A control plane that other machines reach, by the controller on a driver in memory: created, exposed, moved and taken back, and killed at any act. */
import { describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import {
  applied,
  conditionText,
  found,
  type HostingBed,
  hostingBed,
  secretOf,
} from '../../support/hosting/bed.ts';
import { TAKEN_PORTS } from '../../support/hosting/memory/outside.ts';
import { HOSTED, POLICY } from '../../support/hosting/objects.ts';

const HOST = 'ci.example.com';
const OUTSIDE = { ...HOSTED.exposure, host: HOST };
const [TAKEN = 0] = TAKEN_PORTS;
/** A certificate that was just issued is not issued again for a minute. */
const SOON = 120_000;

function cluster(exposure: typeof HOSTED.exposure) {
  return applied({ hosted: { exposure } });
}

async function created(exposure: typeof HOSTED.exposure = HOSTED.exposure): Promise<HostingBed> {
  const bed = hostingBed([cluster(exposure), POLICY]);
  await bed.start();
  await bed.advance(30_000);
  expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
  return bed;
}

async function changed(bed: HostingBed, exposure: typeof HOSTED.exposure): Promise<readonly string[]> {
  bed.hosting().log.length = 0;
  bed.apply(cluster(exposure));
  await bed.advance(SOON);
  return bed.hosting().log;
}

function syncOf(bed: HostingBed): string {
  return Buffer.from(textAt(secretOf(bed), 'data', 'kubeconfig') ?? '', 'base64').toString();
}

const GATEWAYS = ['start ci kubenode-gateway', 'start ci kubenode-gateway-1'];
const CONTROLLERS = 'start ci kubenode-controllers';

describe('a control plane that other machines reach', () => {
  it('HOS-41 is created with its gateways, and sync gets the address', async () => {
    const bed = await created(OUTSIDE);
    expect(bed.hosting().log).toEqual(expect.arrayContaining(GATEWAYS));
    expect(bed.hosting().log.filter((line) => line.startsWith('outside'))).toEqual([]);
    expect(syncOf(bed)).toContain(`at ${HOST}:6443`);
    expect(found(bed)?.status?.hosted?.components).toContainEqual(
      expect.objectContaining({ name: 'kubenode-gateway', ready: 2, desired: 2 }),
    );
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(30_000);
    expect([found(bed), bed.hosting().planes.size]).toEqual([undefined, 0]);
  });

  it('HOS-41 gets an address later, another port, and is taken back, with a grant each time', async () => {
    const bed = await created();
    expect(await changed(bed, OUTSIDE)).toEqual([`outside ci at ${HOST}:6443`, CONTROLLERS, ...GATEWAYS]);
    expect(syncOf(bed)).toContain(`at ${HOST}:6443`);
    expect(await changed(bed, { ...OUTSIDE, port: 7443 })).toEqual([
      `outside ci at ${HOST}:7443`,
      CONTROLLERS,
      ...GATEWAYS,
    ]);
    expect(syncOf(bed)).toContain(`at ${HOST}:7443`);
    expect(await changed(bed, HOSTED.exposure)).toEqual(['outside ci nowhere', CONTROLLERS]);
    expect(syncOf(bed)).not.toContain(HOST);
    expect(conditionText(bed, 'ControlPlaneUpToDate')).toBe('True AsWanted');
    expect([...bed.grants.open.keys()]).toEqual([]);
  });

  it('HOS-06 names a port that another program has, and takes another one', async () => {
    const bed = await created();
    expect(await changed(bed, { ...OUTSIDE, port: TAKEN })).toEqual([]);
    expect([conditionText(bed, 'ControlPlaneStalled'), conditionText(bed, 'ControlPlaneReady')]).toEqual([
      'True PortInUse',
      'True Ready',
    ]);
    expect(await changed(bed, OUTSIDE)).toEqual([`outside ci at ${HOST}:6443`, CONTROLLERS, ...GATEWAYS]);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('False NotStalled');
  });

  it('HOS-41 keeps its address while the port of the spec is that of another program', async () => {
    const bed = await created(OUTSIDE);
    expect(await changed(bed, { ...OUTSIDE, port: TAKEN })).toEqual([]);
    expect([conditionText(bed, 'ControlPlaneReady'), conditionText(bed, 'ControlPlaneStalled')]).toEqual([
      'True Ready',
      'True PortInUse',
    ]);
    expect(syncOf(bed)).toContain(`at ${HOST}:6443`);
    expect(await changed(bed, { ...OUTSIDE, port: 7443 })).toEqual([
      `outside ci at ${HOST}:7443`,
      CONTROLLERS,
      ...GATEWAYS,
    ]);
  });

  it('HOS-41 keeps its gateways while a member hangs that another port waits for', async () => {
    const bed = await created(OUTSIDE);
    const hangs = `kube-scheduler ${HOSTED.version}`;
    bed.hosting().faults.set(hangs, 'hangs');
    await bed.advance(15_000);
    expect(await changed(bed, { ...OUTSIDE, port: 7443 })).not.toContain('stop ci kubenode-gateway');
    bed.hosting().faults.delete(hangs);
    await bed.advance(SOON);
    expect(bed.hosting().log).toContain(`outside ci at ${HOST}:7443`);
  });

  it('HOS-41 gets another name and port in one commit, and keeps its gateways until both change', async () => {
    const bed = await created(OUTSIDE);
    expect(await changed(bed, { ...OUTSIDE, host: 'b.example.com', port: 7443 })).toEqual([
      'outside ci at b.example.com:7443',
      CONTROLLERS,
      ...GATEWAYS,
    ]);
  });

  it('HOS-41 gives the Service inside the cluster the address as its endpoint, as long as it is one of IPv4', async () => {
    const host = '192.0.2.10';
    const bed = await created();
    expect(await changed(bed, { ...OUTSIDE, host })).toEqual([
      `outside ci at ${host}:6443`,
      CONTROLLERS,
      ...GATEWAYS,
      `endpoint ci ${host}:6443`,
    ]);
    const plane = bed.hosting().planes.get('ci');
    if (plane) plane.endpoint = 'Changed';
    await bed.advance(15_000);
    expect(plane?.endpoint).toEqual({ host, port: 6443 });
    expect(await changed(bed, OUTSIDE)).toContain('endpoint ci none');
    if (plane) plane.endpoint = 'Foreign';
    expect(await changed(bed, { ...OUTSIDE, host })).not.toContain(`endpoint ci ${host}:6443`);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    const { reason, message } = found(bed)?.status?.hosted?.waiting ?? {};
    expect(reason).toBe('EndpointNotOurs');
    expect(message).toContain('kubectl --namespace default delete endpointslice kubernetes-outside');
  });

  it('HOS-41 refuses a host that no certificate has, and keeps what it has', async () => {
    const bed = await created(OUTSIDE);
    expect(await changed(bed, { ...OUTSIDE, host: '0.0.0.0' })).toEqual([]);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('True NotSupported');
    expect(syncOf(bed)).toContain(`at ${HOST}:6443`);
  });

  it('HOS-41 keeps the members of a control plane without an address, whatever version of hosting finds it', async () => {
    const bed = await created();
    bed.hosting().log.length = 0;
    const next = await bed.start();
    await bed.advance(SOON);
    expect(bed.hosting().log).toEqual([]);
    await next.kill();
  });
});

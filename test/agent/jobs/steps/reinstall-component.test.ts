import { describe, expect, it } from 'vitest';
import { HostError } from '../../../../src/agent/host/errors.ts';
import type { MachineComponentReport } from '../../../../src/api/generated/types.ts';
import { componentSpec } from '../../../support/agent/component-spec.ts';
import { createJobHost, type JobHost } from '../../../support/agent/job-host.ts';
import { later, repairJob } from '../../../support/agent/jobs.ts';

const V1 = componentSpec('1.0', { commitAfterSeconds: 2 });
const PROGRAM = 'program 1.0';

async function installed(): Promise<JobHost> {
  const jobs = await createJobHost();
  jobs.api.declare([V1]);
  await jobs.run(await jobs.start(), 5);
  expect(report(jobs)).toMatchObject({ state: 'Committed' });
  return jobs;
}

function report({ api }: JobHost): MachineComponentReport | undefined {
  return api.statuses.at(-1)?.components?.[0];
}

/** Releases the step, and runs the agent for so long. */
async function reinstall(jobs: JobHost, component = 'proxy', seconds = 20): Promise<void> {
  const plan = { step: 'ReinstallComponent@v1', with: { component }, timeoutSeconds: 30 };
  const release = { notAfter: later(50, jobs.clock.now()) };
  const spec = { grant: { id: 'g', fence: 7, issuedAt: later(0), notAfter: later(3600) } };
  jobs.api.repairs.set('job-1', repairJob({ plan, release, spec }));
  await jobs.run(await jobs.start(), seconds);
}

async function programPath({ host }: JobHost): Promise<string> {
  const [version = ''] = (await host.files.list('/opt/kubenode/proxy')).filter((name) =>
    name.startsWith('1.0-'),
  );
  return `/opt/kubenode/proxy/${version}/proxy`;
}

describe('installing a component again', () => {
  it('AGT-50 replaces a damaged program from the verified cache, and restarts its unit once', async () => {
    const jobs = await installed();
    const path = await programPath(jobs);
    const attributes = { mode: '0755', owner: 'root:root' };
    await jobs.host.files.write(path, new TextEncoder().encode('damaged'), attributes);
    await jobs.host.files.write(`${path}.left-behind`, new TextEncoder().encode('theirs'), attributes);
    const starts = jobs.host.units.starts.get('proxy') ?? 0;
    await reinstall(jobs);
    expect(jobs.answer()).toMatchObject({ state: 'Succeeded' });
    expect(new TextDecoder().decode(await jobs.host.files.read(path))).toBe(PROGRAM);
    expect(await jobs.host.files.stat(`${path}.left-behind`)).toBeUndefined();
    expect(jobs.host.units.starts.get('proxy')).toBe(starts + 1);
    expect(report(jobs)).toMatchObject({ state: 'Committed', running: true, currentRef: 'proxy-1.0' });
    // Nothing more without another step.
    await jobs.run(await jobs.start(), 10);
    expect(jobs.host.units.starts.get('proxy')).toBe(starts + 1);
  });

  it('downloads a damaged artifact again', async () => {
    const jobs = await installed();
    const [sha256 = ''] = await jobs.host.files.list('/var/lib/kubenode/cache');
    const cached = `/var/lib/kubenode/cache/${sha256}`;
    await jobs.host.files.write(cached, new TextEncoder().encode('rot'), {
      mode: '0600',
      owner: 'root:root',
    });
    await reinstall(jobs);
    expect(jobs.answer()).toMatchObject({ state: 'Succeeded' });
    expect(new TextDecoder().decode(await jobs.host.files.read(cached))).toBe(PROGRAM);
  });

  it('fails when the unit does not start, and denies no version', async () => {
    const jobs = await installed();
    jobs.host.units.behave(({ name }) => (name === 'proxy' ? 'FailsToStart' : 'Runs'));
    await reinstall(jobs);
    expect(jobs.answer()).toMatchObject({ state: 'Failed', code: 'UnitFailed' });
    expect(report(jobs)?.deniedDigests).toEqual([]);
    // The limit of corrections ends after ten minutes.
    jobs.host.units.behave(() => 'Runs');
    await jobs.clock.advance(600_000);
    await jobs.run(await jobs.start(), 5);
    expect(report(jobs)).toMatchObject({ running: true });
  });

  it('gives up before it stops anything when the artifact cannot be had within its time', async () => {
    const jobs = await installed();
    const [sha256 = ''] = await jobs.host.files.list('/var/lib/kubenode/cache');
    await jobs.host.files.remove(`/var/lib/kubenode/cache/${sha256}`);
    jobs.host.network.download = async () => {
      throw new HostError('Download', 'the network is down');
    };
    const stops = jobs.host.units.stops.get('proxy') ?? 0;
    await reinstall(jobs, 'proxy', 60);
    expect(jobs.answer()).toMatchObject({ state: 'Failed', code: 'TimedOut' });
    expect(jobs.host.units.stops.get('proxy') ?? 0).toBe(stops);
    expect(report(jobs)).toMatchObject({ state: 'Committed', running: true });
  });

  it('refuses a component that is not installed or is being changed', async () => {
    const jobs = await installed();
    await reinstall(jobs, 'nginx', 2);
    expect(jobs.answer()).toMatchObject({ state: 'Refused', code: 'NotInstalled' });
    const other = await installed();
    other.api.declare([componentSpec('1.1')], { granted: false });
    await other.run(await other.start(), 2);
    await reinstall(other, 'proxy', 2);
    expect(other.answer()).toMatchObject({ state: 'Refused', code: 'ChangePending' });
  });
});

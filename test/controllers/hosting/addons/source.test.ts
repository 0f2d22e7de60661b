import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { HostedAddon } from '../../../../src/api/generated/types.ts';
import { createAddonSource } from '../../../../src/controllers/hosting/addons/source.ts';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type Publisher, startPublisher } from '../../../support/publisher.ts';

const TEXT = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n';
const { signal } = new AbortController();

/** Only the time between attempts is that of the test. */
function sourceAt(): {
  readonly source: ReturnType<typeof createAddonSource>;
  readonly later: (ms: number) => void;
} {
  let passedMs = 0;
  const clock = createSystemClock();
  const source = createAddonSource({ ...clock, monotonicMs: () => clock.monotonicMs() + passedMs });
  return { source, later: (ms) => void (passedMs += ms) };
}

function published(site: Publisher, text = TEXT, path = '/dns.yaml'): HostedAddon {
  site.files.set(path, text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { name: 'dns', url: `${site.url}${path}`, sha256, enabled: true };
}

async function failure(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof HostingError ? `${error.code}: ${error.message}` : String(error);
}

describe('the source of add-ons', () => {
  it('HOS-51 manifests are fetched once, and kept by their digest', async () => {
    const site = await startPublisher();
    const { source } = sourceAt();
    const addon = published(site);
    expect(await source.objects(addon, signal)).toHaveLength(1);
    site.files.clear();
    expect(await source.objects(addon, signal)).toHaveLength(1);
    expect(site.asked).toEqual(['/dns.yaml']);
  });

  it('HOS-51 two add-ons may have one file, and each labels the objects as its own', async () => {
    const site = await startPublisher();
    const { source } = sourceAt();
    const addon = published(site);
    const labels = async (name: string): Promise<unknown> =>
      (await source.objects({ ...addon, name }, signal)).map(({ metadata }) => metadata.labels);
    expect(await labels('dns')).toEqual([{ 'kubenode.dev/addon': 'dns' }]);
    expect(await labels('other')).toEqual([{ 'kubenode.dev/addon': 'other' }]);
  });

  it('HOS-51 a file with another digest is refused with both', async () => {
    const site = await startPublisher();
    const addon = { ...published(site), sha256: '0'.repeat(64) };
    const text = await failure(sourceAt().source.objects(addon, signal));
    expect(text).toBe(`AddonDigestDiffers: expected SHA-256 ${addon.sha256}, got ${published(site).sha256}`);
  });

  it('HOS-51 a host that is down is asked again after a minute', async () => {
    const site = await startPublisher();
    const { source, later } = sourceAt();
    const addon = published(site);
    site.files.clear();
    const url = `${addon.url}?token=secret`;
    const attempt = (): Promise<string> => failure(source.objects({ ...addon, url }, signal));
    expect(await attempt()).toBe(
      `AddonNotFetched: ${addon.url} could not be fetched: the server answered 404 Not Found`,
    );
    later(59_000);
    await attempt();
    expect(site.asked).toHaveLength(1);
    site.files.set('/dns.yaml?token=secret', TEXT);
    later(1000);
    expect(await source.objects({ ...addon, url }, signal)).toHaveLength(1);
  });

  it.each([
    [
      'a larger file',
      (site: Publisher) => published(site, `${TEXT}# ${'x'.repeat(2 * 1024 ** 2)}`),
      /larger than 2097152 bytes/,
    ],
    [
      'a redirect to a file',
      redirectTo('file:///etc/passwd'),
      /the redirect to file:\/\/\/etc\/passwd is refused/,
    ],
    ['a redirect to data', redirectTo('data:text/plain,a'), /the redirect to data:.* is refused/],
    [
      'content that is refused',
      (site: Publisher) => published(site, TEXT.replace('default', 'kubenode-system')),
      /^AddonInvalid: line 1/,
    ],
    [
      'a host without a name',
      () => ({ name: 'dns', url: 'https://addons.invalid/a', sha256: 'a', enabled: true }),
      /^AddonNotFetched/,
    ],
  ] as const)('HOS-51 the source of an add-on is refused: %s', async (_, addonOf, expected) => {
    const site = await startPublisher();
    expect(await failure(sourceAt().source.objects(addonOf(site), signal))).toMatch(expected);
  });

  it('HOS-51 a stop of the program is not a failure of the host', async () => {
    const site = await startPublisher();
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    expect(await failure(sourceAt().source.objects(published(site), stop.signal))).toBe('Error: stopped');
  });
});

function redirectTo(location: string): (site: Publisher) => HostedAddon {
  return (site) => {
    site.answers.set('/dns.yaml', [(_, response) => response.writeHead(302, { location }).end()]);
    return published(site);
  };
}

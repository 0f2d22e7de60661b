import { describe, expect, it } from 'vitest';
import {
  parseDownloadSettings,
  readDownloadSettings,
  urlAtMirror,
} from '../../../src/agent/install/settings.ts';

describe('the settings of downloads', () => {
  it.each<[text: string, settings: object]>([
    ['{}', { mirrors: [] }],
    [
      '{"mirrors": ["http://10.0.0.5/artifacts", "oci://registry.lan/mirror", "file:///srv/mirror"]}',
      { mirrors: ['http://10.0.0.5/artifacts', 'oci://registry.lan/mirror', 'file:///srv/mirror'] },
    ],
    [
      '{"bytesPerSecond": 125000000, "agents": 1000}',
      { mirrors: [], bandwidth: { bytesPerSecond: 125_000_000, agents: 1000 } },
    ],
  ])('reads %s', (text, settings) => {
    expect(parseDownloadSettings(text)).toEqual(settings);
  });

  it.each([
    ['no JSON', 'expected a JSON object'],
    ['[]', 'expected a JSON object'],
    ['{"bandwidth": 1}', 'expected only mirrors, bytesPerSecond, agents, got bandwidth'],
    ['{"mirrors": "http://a"}', 'mirrors: expected at most 4 URLs that begin with'],
    ['{"mirrors": ["ftp://a/b"]}', 'mirrors: expected at most 4 URLs that begin with'],
    ['{"mirrors": ["http://a/b?token=x"]}', 'mirrors: expected at most 4 URLs that begin with'],
    ['{"mirrors": ["oci://registry.lan"]}', 'mirrors: expected at most 4 URLs that begin with'],
    ['{"bytesPerSecond": 1}', 'bytesPerSecond and agents: expected both, as positive integers'],
    ['{"bytesPerSecond": 0, "agents": 1}', 'bytesPerSecond and agents: expected both, as positive integers'],
    [
      '{"bytesPerSecond": 1, "agents": "1"}',
      'bytesPerSecond and agents: expected both, as positive integers',
    ],
  ])('refuses %s', (text, problem) => {
    expect(() => parseDownloadSettings(text)).toThrow(`/etc/kubenode/downloads.json: ${problem}`);
  });

  it('has none without the file', async () => {
    expect(await readDownloadSettings({ read: async () => undefined })).toEqual({ mirrors: [] });
    const content = new TextEncoder().encode('{"mirrors": ["https://a/b"]}');
    expect(await readDownloadSettings({ read: async () => content })).toEqual({ mirrors: ['https://a/b'] });
  });

  it.each([
    ['http://a/b', 'http://a/b/ff'],
    ['http://a/b//', 'http://a/b/ff'],
    ['file:///srv/b', 'file:///srv/b/ff'],
    ['oci://registry.lan/b', 'oci://registry.lan/b'],
  ])('finds an artifact at the mirror %s', (mirror, url) => {
    expect(urlAtMirror(mirror, 'ff')).toBe(url);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  bootstrapFiles,
  type HostFile,
} from '../../../../../../src/controllers/following/clusterapi/extension/files/kubeadm-files.ts';

const PATH = '/etc/a';

function hostOf(entry: object, spec: object = {}): HostFile | string | undefined {
  return bootstrapFiles({ ...spec, files: [{ path: PATH, content: 'a', ...entry }] }).get(PATH)?.host;
}

/** Renders a file as the template of the kubeadm bootstrap provider does, with another file after it. */
function cloudConfig(content: string): string {
  const text = ' '.repeat(6) + content.split('\n').join(`\n${' '.repeat(6)}`);
  return `write_files:\n-   path: ${PATH}\n    content: |\n${text}\n-   path: /etc/b\n    content: |\n      b`;
}

describe('bootstrapFiles', () => {
  it.each<[name: string, entry: object, host: HostFile | string]>([
    ['the defaults of cloud-init', {}, { content: 'a\n', mode: 0o644, owner: 'root:root' }],
    [
      'permissions and owner',
      { permissions: '0600', owner: 'etcd:etcd' },
      { content: 'a\n', mode: 0o600, owner: 'etcd:etcd' },
    ],
    [
      'one line feed at the end',
      { content: 'a\nb\n\n\n' },
      { content: 'a\nb\n', mode: 0o644, owner: 'root:root' },
    ],
    [
      'bytes that are base64',
      { content: `${btoa('no line feed')}\n`, encoding: 'base64' },
      { content: 'no line feed', mode: 0o644, owner: 'root:root' },
    ],
    ['no Secret', { contentFrom: { secret: { name: 's', key: 'k' } } }, 'its content is in a Secret'],
    ['no addition', { append: true }, 'it is added to another file'],
    ['no template', { contentFormat: 'Template' }, 'its content is a Template'],
    ['nothing compressed', { encoding: 'gzip+base64' }, 'its content is in the encoding gzip+base64'],
    ['no base64 that is invalid', { encoding: 'base64', content: '?' }, 'its content is not base64'],
    ['no bytes that are not text', { encoding: 'base64', content: btoa('\xFF') }, 'its content is not text'],
    ['no other permissions', { permissions: 'u+x' }, 'its permissions are not octal'],
    ['no white space at the start', { content: ' a' }, 'its content begins or ends with white space'],
    ['no empty file', { content: '' }, 'its content begins or ends with white space'],
    [
      'no expression of Jinja, which the host renders',
      { content: 'ip={{ ds.meta_data.local_ipv4 }}' },
      'its content is a template of Jinja, which the host renders',
    ],
    ['no control characters', { content: 'a\u0085b' }, 'its content has characters that YAML changes'],
  ])('CAP-17 reads what the bootstrap provider makes of an entry: %s', (_, entry, host) => {
    expect(hostOf(entry)).toEqual(host);
  });

  it('CAP-17 knows no file of Ignition, and none that two entries write', () => {
    expect(hostOf({}, { format: 'ignition' })).toBe('it is written by ignition');
    expect(hostOf({}, { format: 'cloud-config' })).toMatchObject({ content: 'a\n' });
    const twice = { files: [{ path: PATH }, { path: PATH }] };
    expect(bootstrapFiles(twice).get(PATH)?.host).toBe('the KubeadmConfig has it twice');
    const odd = bootstrapFiles({ files: [{ path: '/etc/a: b', content: 'a' }] });
    expect(odd.get('/etc/a: b')?.host).toBe('its path has characters that YAML may change');
  });

  it.each([undefined, null, 7, {}, { files: 'x' }, { files: [7, null] }])(
    'reads no files from %j',
    (spec) => {
      expect([...bootstrapFiles(spec)]).toEqual([]);
    },
  );

  it('CAP-17 has for any content the text that the YAML of the provider has, or does not know it', () => {
    const part = fc.constantFrom(
      'a',
      'key: "x"',
      ' ',
      '\t',
      '\n',
      '#',
      '|',
      "'",
      '---',
      'é',
      '\u0085',
      '\u2028',
      '\r',
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
        (content) => {
          const host = hostOf({ content });
          if (typeof host !== 'object') return;
          const parsed = parse(cloudConfig(content)) as { write_files: readonly { content: string }[] };
          expect(parsed.write_files[0]?.content).toBe(host.content);
        },
      ),
    );
  });
});

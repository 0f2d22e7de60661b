import { describe, expect, it } from 'vitest';
import { declarationsIn } from '../../../../src/cli/commands/component/source/declarations.ts';
import { componentAge, selectedVersions } from '../../../../src/cli/commands/component/versions-age.ts';

function selected(text: string, only?: string): unknown {
  return Object.fromEntries(selectedVersions(declarationsIn([{ path: 'a.ts', text }]), only));
}

describe('selectedVersions', () => {
  it('has those of all files, by name', () => {
    const text = "const versions = { web: '2.0.0', db: '1.0.0' };";
    expect(JSON.stringify(selected(text))).toBe('{"db":"1.0.0","web":"2.0.0"}');
    expect(selected(text, 'web')).toEqual({ web: '2.0.0' });
  });

  it.each([
    ['const other = {};', undefined, 'the repository selects no versions: found no `const versions = { … }`'],
    ["const versions = { web: '1' };", 'db', 'the repository selects no version of db'],
    ['const versions = { web: pick() };', undefined, 'expected one plain version of web'],
    [
      "const versions = { web: '1' };\nconst versions = { web: '2' };",
      undefined,
      'expected one plain version of web',
    ],
  ])('rejects %j', (text, only, message) => {
    expect(() => selected(text, only)).toThrow(message);
  });
});

describe('componentAge', () => {
  const url = 'https://example.com';

  it.each([
    ['NotTracked', undefined],
    ['Unknown', { url, unknown: 'the server answered 503' }],
    ['Outdated', { url, versions: ['1.0.0', '1.0.1'] }],
    ['Current', { url, versions: ['1.0.0', '0.9.0'] }],
    ['Current', { url, versions: [] }],
  ])('is %s for %j', (state, answer) => {
    expect(componentAge('web', '1.0.0', answer)).toMatchObject({ component: 'web', version: '1.0.0', state });
  });

  it('has the reason of what is unknown', () => {
    const age = componentAge('web', '1.0.0', { url, unknown: 'the server answered 503' });
    expect(age).toMatchObject({ because: 'the server answered 503', index: url });
  });
});

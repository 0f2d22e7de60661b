import { describe, expect, it } from 'vitest';
import { type NamedVersion, versionsText } from '../../../src/api/machine/versions-text.ts';

function version(name: string, of: string, state: NamedVersion['state'] = 'Present'): NamedVersion {
  return { name, componentRef: `${name}-${of}`, state };
}

describe('versionsText', () => {
  it.each<[name: string, components: readonly NamedVersion[], text: string]>([
    ['a component and its version', [version('web', '2.2.0')], 'web 2.2.0'],
    ['a name with a dash', [version('node-exporter', '1.8.0-rc.1')], 'node-exporter 1.8.0-rc.1'],
    ['a component that is removed', [version('web', '2.2.0', 'Absent')], 'no web'],
    ['three components', ['a', 'b', 'c'].map((name) => version(name, '1')), 'a 1, b 1, c 1'],
    ['more than three', ['a', 'b', 'c', 'd', 'e'].map((name) => version(name, '1')), 'a 1, b 1, c 1, 2 more'],
  ])('names %s', (_, components, text) => {
    expect(versionsText(components)).toBe(text);
  });
});

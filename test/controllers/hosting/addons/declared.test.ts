import { describe, expect, it } from 'vitest';
import type { HostedAddon } from '../../../../src/api/generated/types.ts';
import {
  areAsDeclared,
  enabledAddons,
  isDeclared,
} from '../../../../src/controllers/hosting/addons/declared.ts';

function addon(name: string, parts: Partial<HostedAddon> = {}): HostedAddon {
  return { name, url: 'https://addons.example.com/a.yaml', sha256: 'a'.repeat(64), enabled: true, ...parts };
}

function report(...names: readonly string[]): Parameters<typeof areAsDeclared>[0] {
  const installed = names.map((name) => ({ name, begun: 'a'.repeat(64), drifted: [], unready: [] }));
  return { installed, hasNodes: false };
}

const OFF = addon('off', { enabled: false });

describe('the add-ons that a spec declares', () => {
  it('are those that are enabled', () => {
    expect(enabledAddons([addon('dns'), OFF])).toEqual([addon('dns')]);
    expect(['dns', 'off', 'other'].map((name) => isDeclared([addon('dns'), OFF], name))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each<[what: string, installed: readonly string[], declared: readonly HostedAddon[], want: boolean]>([
    ['none', [], [OFF], true],
    ['each of them', ['cni', 'dns'], [addon('dns'), addon('cni')], true],
    ['not each of them', ['cni'], [addon('dns'), addon('cni')], false],
    ['one that is not declared', ['cni', 'off'], [addon('cni'), OFF], false],
    ['another one', ['cni'], [addon('dns')], false],
    ['one with other manifests', ['dns'], [addon('dns', { sha256: 'b'.repeat(64) })], false],
  ])('are compared with those that are installed: %s', (_, installed, declared, want) => {
    expect(areAsDeclared(report(...installed), declared)).toBe(want);
  });
});

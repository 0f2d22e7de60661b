import { expect, it } from 'vitest';
import { replaceTemplates } from '../../../src/api/machine/component-templates.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { agentUnit } from '../../support/agent/targets.ts';

it('replaces in what a machine reads, and in no name, path or key', () => {
  const spec = componentSpec('1.0', {
    units: [
      agentUnit('proxy', {
        exec: { argv: ['/a', 'b'], env: { C: 'd' }, user: 'e', workingDirectory: '/f' },
        reload: { argv: ['g'] },
        dropIns: [{ name: 'h', content: 'i' }],
      }),
    ],
  });
  const paths: string[] = [];
  const { files, units } = replaceTemplates(spec, (text, path) => {
    paths.push(path);
    return text.toUpperCase();
  });
  expect(files).toEqual([{ ...spec.files[0], content: 'VERSION 1.0\n' }]);
  expect(units).toEqual([
    {
      ...spec.units[0],
      exec: { argv: ['/A', 'B'], env: { C: 'D' }, user: 'e', workingDirectory: '/F' },
      reload: { argv: ['G'] },
      dropIns: [{ name: 'h', content: 'I' }],
    },
  ]);
  expect(new Set(paths).size).toBe(paths.length);
});

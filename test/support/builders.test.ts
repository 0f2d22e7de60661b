import { describe, expect, it } from 'vitest';
import { validate } from '../../src/api/validation/validate.ts';
import { FLEET_WORDS, fleet, machine } from './builders.ts';

describe('a built object', () => {
  it.each(FLEET_WORDS)('is valid for the API server: a machine that is %s', (word) => {
    expect(fleet(word).flatMap((each) => validate(each))).toEqual([]);
  });

  it('is valid by default and can be overridden', () => {
    expect(validate(machine('m'))).toEqual([]);
    const wrong = machine('m', { spec: { agentEpoch: -1 } });
    expect(validate(wrong).map(({ path }) => path)).toEqual(['spec.agentEpoch']);
  });
});

describe('a fleet', () => {
  it('has a machine for each word, in order', () => {
    expect(fleet('done  moving\nbehind').map(({ metadata }) => metadata.name)).toEqual(['m-1', 'm-2', 'm-3']);
    expect(fleet('')).toEqual([]);
  });

  it('is the same each time', () => {
    expect(fleet(FLEET_WORDS.join(' '))).toEqual(fleet(FLEET_WORDS.join(' ')));
  });

  it('refuses an unknown word', () => {
    expect(() => fleet('done dnoe')).toThrow('unknown fleet word dnoe');
  });
});

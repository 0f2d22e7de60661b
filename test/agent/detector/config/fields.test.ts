import { describe, expect, it } from 'vitest';
import { ConfigFields } from '../../../../src/agent/detector/config/fields.ts';

describe('fields', () => {
  it('reads what is there, and puts the path in front of each problem', () => {
    const fields = new ConfigFields({ name: 'a', on: true, wait: '2s' }, 'rules[1]', [
      'name',
      'on',
      'wait',
      'size',
    ]);
    expect([fields.text('name'), fields.flag('on', false), fields.milliseconds('wait', 0)]).toEqual([
      'a',
      true,
      2000,
    ]);
    expect(() => fields.text('size')).toThrow('rules[1].size: required, but it is missing or empty');
    expect(() => fields.list('name')).toThrow('rules[1].name: expected a list, got "a"');
    expect(() => fields.flag('name', true)).toThrow('rules[1].name: expected true or false, got "a"');
    expect(() => fields.text('on')).toThrow('rules[1].on: expected a text, got true');
  });

  it('compiles a pattern with its suffix, but accepts none that is complete only with it', () => {
    const fields = new ConfigFields({ good: 'a|b', bad: 'a\\' }, '', ['good', 'bad']);
    expect(fields.pattern('good', '\\z').text).toBe('a|b\\z');
    expect(() => fields.pattern('bad', '\\z')).toThrow('bad: trailing backslash');
  });

  it('does not find what every object has', () => {
    expect(new ConfigFields({}, '', []).optionalText('constructor')).toBeUndefined();
  });
});

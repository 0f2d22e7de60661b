import { describe, expect, it } from 'vitest';
import { includesChar } from '../../../../src/agent/detector/pattern/char-set.ts';
import { PERL_CLASSES, unicodeClass } from '../../../../src/agent/detector/pattern/named-classes.ts';

describe('named classes', () => {
  it.each([
    'L',
    'l',
    'Letter',
    'le_t-t er',
    'Greek',
    'greek',
    'Any',
    'ASCII',
    'Assigned',
    'Lowercase_Letter',
  ])('has %s, whatever the case and the separators', (name) => {
    expect(unicodeClass(name)).toBeDefined();
  });

  it.each(['', 'Foo', 'Latn', 'Old_Italic', 'Script=Greek', 'Emoji'])('does not know %j, as Go', (name) => {
    expect(unicodeClass(name)).toBeUndefined();
  });

  it('separates scripts', () => {
    expect(includesChar(unicodeClass('Greek') ?? [], 0x3c3)).toBe(true);
    expect(includesChar(unicodeClass('Greek') ?? [], 0x61)).toBe(false);
    expect(includesChar(PERL_CLASSES['s'] ?? [], 0x0b)).toBe(false);
  });
});

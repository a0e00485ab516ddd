// The package's functions again, for the figures that a reader moves, and how to read and write
// numbers. Nothing here knows of a page. tests/test_live_numbers.py holds each against Python's.

// Attention, for one query. A mask says true where the query may attend.

export function softmax(scores, mask = null) {
  const z = scores.map((score, i) => (mask && !mask[i] ? -Infinity : score));
  const largest = Math.max(...z); // NaN if one of them is; -Infinity if nothing is visible
  const shares = z.map((score) => Math.exp(score === largest ? 0 : score - largest));
  const total = sum(shares);
  return shares.map((share, i) => (z[i] === -Infinity ? 0 : share / total));
}

// A score too large for a double is NaN: an infinity would hide which of two is the larger.
export function attentionScores(query, keys, scale = 1 / Math.sqrt(query.length || 1)) {
  return keys.map((key) => {
    let score = 0;
    for (let i = 0; i < query.length; i++) score += query[i] * key[i];
    score *= scale;
    const infinite = (x) => Math.abs(x) === Infinity;
    return infinite(score) && ![...query, ...key].some(infinite) ? NaN : score;
  });
}

// A weight of zero does not hide a NaN or an infinity: what is not visible is left out.
export function weightedSum(weights, values, mask = null) {
  return (values[0] ?? []).map((_, column) =>
    sum(values.map((value, i) => {
      const visible = !mask || mask[i];
      return Number.isFinite(value[column]) || visible ? weights[i] * value[column] : 0;
    })));
}

export function entropy(weights) {
  const negative = weights.find((weight) => weight < 0);
  if (negative !== undefined) throw new RangeError(`a weight cannot be negative: ${negative}`);
  const total = sum(weights);
  if (total !== 0 && Math.abs(total - 1) > 0.001)
    throw new RangeError(`weights must sum to 1 (or all be 0): ${total}`);
  const bits = -sum(weights.map((p) => (p === 0 ? 0 : p * Math.log2(p))));
  return bits <= 0 ? 0 : bits;
}

export const causalMask = (queries, keys, offset = 0) =>
  range(queries).map((i) => range(keys).map((j) => j <= i + offset));

// The Frobenius norm of the softmax's Jacobian, diag(p) - p pᵀ.
export function jacobianNorm(p) {
  let squares = 0;
  for (let i = 0; i < p.length; i++)
    for (let j = 0; j < p.length; j++)
      squares += ((i === j ? p[i] : 0) - p[i] * p[j]) ** 2;
  return Math.sqrt(squares);
}

// Turns the pairs of one token's numbers by its position, as the package's rotary_embedding.
export function rotaryEmbedding(x, position, base = 10000, interleaved = false) {
  const half = x.length / 2;
  const turned = [...x];
  for (let i = 0; i < half; i++) {
    const [a, b] = interleaved ? [2 * i, 2 * i + 1] : [i, i + half];
    const angle = position * base ** ((-2 * i) / x.length);
    turned[a] = x[a] * Math.cos(angle) - x[b] * Math.sin(angle);
    turned[b] = x[a] * Math.sin(angle) + x[b] * Math.cos(angle);
  }
  return turned;
}

// Statistics

export const range = (n) => Array.from({ length: n }, (_, i) => i);

export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

export const mean = (numbers) => sum(numbers) / numbers.length;

export function median(numbers) {
  const sorted = Float64Array.from(numbers).sort(); // as numbers; a NaN goes last
  const half = sorted.length >> 1;
  if (Number.isNaN(sorted.at(-1))) return NaN;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

export function standardError(numbers) {
  const middle = mean(numbers);
  const variance = sum(numbers.map((x) => (x - middle) ** 2)) / (numbers.length - 1);
  return Math.sqrt(variance / numbers.length);
}

// Independent normal numbers of mean 0 and variance 1, always the same for a seed: sfc32 gives
// 32 random bits at a time, and Box and Muller make two normal numbers of two uniform ones.
export function normals(seed) {
  let [a, b, c, d] = [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0, 0x9e3779b9, 1];
  const uniform = () => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return ((t >>> 0) + 0.5) / 2 ** 32; // never 0, whose logarithm has no end
  };
  for (let i = 0; i < 15; i++) uniform(); // until the seed is mixed in
  let kept = null;
  return () => {
    if (kept !== null) {
      const second = kept;
      kept = null;
      return second;
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    kept = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}

// One trial of the scaling experiment: what its raw and its scaled weights are like.
export function trial(query, keys) {
  const products = attentionScores(query, keys, 1);
  const root = Math.sqrt(query.length);
  const [raw, scaled] = [softmax(products), softmax(products.map((product) => product / root))];
  return [entropy(raw), entropy(scaled), jacobianNorm(raw), jacobianNorm(scaled)];
}

// Counts, exact however large: all sizes are BigInts.

const linear = (nIn, nOut, bias) => nIn * nOut + (bias ? nOut : 0n);

export function attentionParameters({ D, h, d_k, kv_heads, attention_bias: bias, qkv_bias }) {
  if (d_k == null && D % h) throw new RangeError(`the heads must divide the width: D = ${D}, h = ${h}`);
  const width = d_k ?? D / h;
  const kv = kv_heads ?? h;
  if (h % kv) throw new RangeError(`kv_heads must divide h: h = ${h}, kv_heads = ${kv}`);
  const inner = bias || qkv_bias;
  return linear(D, h * width, inner) + 2n * linear(D, kv * width, inner) + linear(h * width, D, bias);
}

export function feedForwardParameters({ D, H, feed_forward_bias: bias, gated }) {
  return linear(D, H, bias) * (gated ? 2n : 1n) + linear(H, D, bias);
}

export function countParameters(model) {
  const { D, L, vocabulary, positions, token_types, outer_norms, pooler, untied_head } = model;
  const normOf = (width) => (model.norm_bias ? 2n * width : width);
  const norm = normOf(D);
  const attention = attentionParameters(model);
  const feed_forward = feedForwardParameters(model);
  const norms = 2n * norm + (model.qk_norm ? 2n * normOf(model.d_k ?? D / model.h) : 0n);
  const layer = attention + feed_forward + norms;
  const layers = L * layer;
  const embeddings = (vocabulary + positions + token_types) * D;
  const rest = outer_norms * norm + (pooler ? linear(D, D, true) : 0n) + (untied_head ? D * vocabulary : 0n);
  return { attention, feed_forward, norms, layer, layers, embeddings, rest, total: layers + embeddings + rest };
}

export const scoreEntries = (n, h = 1n) => n * n * h;
export const scoreBytes = (n, h = 1n, bytesEach = 4n) => scoreEntries(n, h) * bytesEach;
export const matrixFlops = (n, D, H = 4n * D) => 8n * n * D * D + 4n * n * D * H;
export const attentionFlops = (n, D) => 4n * n * n * D;
export const layerFlops = (n, D, H = 4n * D) => matrixFlops(n, D, H) + attentionFlops(n, D);
export const crossoverLength = (D, H = 4n * D) => matrixFlops(1n, D, H) / attentionFlops(1n, D);

// What people type: a number, or an Error that says what is wrong with it.

const DECIMAL = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;
const GROUPED = /^[1-9]\d{0,2}([, _]\d{3})+$/;

function decimal(text) {
  if (!DECIMAL.test(text)) throw new Error("is no number: write it as 0.5, -1e3 or 1/3");
  if (/^[+-]?[1-9]\d{0,2},\d{3}$/.test(text))
    throw new Error(`could be a thousand or a fraction: write ${text.replace(",", "")} or ${text.replace(",", ".")}`);
  const value = Number(text.replace(",", "."));
  if (!Number.isFinite(value)) throw new Error("is too large: the largest number is about 1.8e308");
  if (value === 0 && /[1-9]/.test(text.split(/e/i)[0])) throw new Error("is too small to be told from 0");
  return value;
}

export function parseNumber(text) {
  const plain = text.trim().replace(/[−–]/g, "-").replace(/\s*\/\s*/, "/");
  if (!plain) throw new Error("is empty: write a number");
  const [top, bottom, ...more] = plain.split("/");
  if (more.length) throw new Error("has more than one /");
  if (bottom === undefined) return decimal(plain);
  const [a, b] = [decimal(top), decimal(bottom)];
  if (b === 0) throw new Error("divides by zero");
  const value = a / b;
  if (!Number.isFinite(value)) throw new Error("is too large: the largest number is about 1.8e308");
  if (value === 0 && a !== 0) throw new Error("is too small to be told from 0");
  return value;
}

// A whole number as a BigInt, from `least` to `most`; here a comma may part thousands.
export function parseWhole(text, least = 1n, most = 10n ** 12n) {
  const plain = text.trim();
  let whole;
  if (GROUPED.test(plain) || /^\d+$/.test(plain)) whole = BigInt(plain.replace(/\D/g, ""));
  else {
    const value = parseNumber(plain);
    if (!Number.isInteger(value)) throw new Error("is not a whole number");
    whole = BigInt(value);
  }
  if (whole < least) throw new Error(`is less than ${least}`);
  if (whole > most) throw new Error(`is more than ${shownWhole(most)}, where this figure ends`);
  return whole;
}

// How a number is written: as the lesson's tables do, and never NaN without a word.

export function fixed(value, places = 4) {
  if (Number.isNaN(value)) return "no number";
  if (Math.abs(value) === Infinity) return value > 0 ? "infinite" : "−infinite";
  if (Math.abs(value) >= 1e7) return exponent(value.toExponential(places));
  const text = value.toFixed(places);
  return /[1-9]/.test(text) ? text : text.replace("-", "");
}

export function shown(value) {
  const tiny = value !== 0 && Math.abs(value) < 0.0001;
  return tiny ? exponent(value.toExponential(1)) : fixed(value);
}

const exponent = (text) => text.replace(/e([+-])(\d)$/, "e$10$2");

export const shownWhole = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

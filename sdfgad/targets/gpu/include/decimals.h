// Rounding to decimal places where there are no texts of numbers.
#pragma once
#include <cmath>

namespace sdfgad {

// 10^places times 2^-200, as a sum of two numbers, by products with 10^22, which is the last power that is exact.
struct Power {
    double high, low;
};
inline Power power_of_ten(int places) {
    Power power = {0x1p-200, 0};
    while (places > 0) {
        double factor = 1;
        for (int k = 0; k < 22 && places > 0; ++k, --places) factor *= 10;
        const double high = power.high * factor;
        const double rest = std::fma(power.high, factor, -high) + power.low * factor;
        power.high = high + rest;
        power.low = rest - (power.high - high);
    }
    return power;
}

// The number nearest to `a`, halves to even, that has so many decimal places, 0 < places < 324; of a denormal one, perhaps
// the number beside that.
inline double nearest_decimal(double a, int places) {
    constexpr double most = 0x1p53;
    const double x = std::fabs(a);
    // Few numbers this large have a decimal place; scaled, they would overflow.
    if (x >= most) return a;
    const Power power = power_of_ten(places);
    const double scaled = x * 0x1p200, product = scaled * power.high;
    // Above, the spacing of numbers is no less than that of the decimals.
    if (!(product < most)) return a;
    const double rest = std::fma(scaled, power.high, -product) + scaled * power.low;
    const double whole = std::floor(product), beyond = product - whole;
    const bool is_odd = std::fmod(whole, 2) != 0;
    const double above = (beyond - 0.5) + rest, below = (beyond + 0.5) + rest;
    const double up = above > 0 || (above == 0 && is_odd), down = below < 0 || (below == 0 && is_odd);
    // The quotient, with the rounding errors of its steps.
    const double n = whole + up - down, quotient = n / power.high;
    const double miss = std::fma(-quotient, power.high, n) - quotient * power.low;
    return std::copysign(std::ldexp(quotient + miss / power.high, -200), a);
}

}  // namespace sdfgad

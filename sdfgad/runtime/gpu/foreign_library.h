// A library that is loaded when it is needed first, from the first of several places that has it.
#pragma once
#include <algorithm>
#include <string>

#include <dlfcn.h>

namespace sdfgad {
namespace cuda {

class ForeignLibrary {
public:
    // Where the library may be, separated by newlines.
    std::string paths;
    // What the dynamic linker said, or the name of the function that is not there.
    std::string trouble;

    // `name` without a version, and another one beside it that it needs, where the dynamic linker may not look.
    ForeignLibrary(std::string name, std::string needed, int missing) : name(std::move(name)), needed(std::move(needed)), missing(missing) {}

    bool is_open() const { return library != nullptr; }
    // The library is looked for again where it is needed next.
    void forget() { library = nullptr; }

    // Returns 0, or the code that says that it is not there; `has_all` looks its functions up.
    template <typename HasAll> int open(const HasAll& has_all) {
        if (library != nullptr) return 0;
        trouble.clear();
        for (size_t begin = 0; begin < paths.size() && library == nullptr;) {
            const size_t end = std::min(paths.find('\n', begin), paths.size());
            library = opened(paths.substr(begin, end - begin));
            if (library == nullptr) trouble += std::string(trouble.empty() ? "" : "; ") + dlerror();
            begin = end + 1;
        }
        if (library == nullptr || has_all()) return library == nullptr ? missing : 0;
        library = nullptr;
        return missing;
    }

    template <typename Function> bool find(Function*& function, const std::string& symbol) {
        function = reinterpret_cast<Function*>(dlsym(library, symbol.c_str()));
        if (function == nullptr) trouble = symbol;
        return function != nullptr;
    }

private:
    const std::string name, needed;
    const int missing;
    void* library = nullptr;

    void* opened(const std::string& path) const {
        const size_t at = path.rfind("/" + name);
        if (at != std::string::npos && !needed.empty()) {
            std::string other = path;
            dlopen(other.replace(at + 1, name.size(), needed).c_str(), RTLD_NOW | RTLD_LOCAL);
        }
        return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
};

}  // namespace cuda
}  // namespace sdfgad
